import { parsePubKey, type PubKey } from '../../../values/pubKey.ts'
import { invalidParameter } from '../../../base/txError.ts'
import type { StateReader } from '../../../store/state.ts'
import { field } from '../../../tx/fields.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { enumOf, text, textOf } from '../../../values/text.ts'
import { programVersion, raiseProgramVersion } from '../../chain/keeper.ts'
import { defineEvent } from '../../event.ts'
import { deactivateAllBut, isEligibleKey } from '../../stake/keeper.ts'
import { governanceErrors } from '../errors.ts'
import { hasStandingRetirement } from '../keeper.ts'
import { RETIREMENT_STATUSES } from '../tables.ts'
import { defineProposal, pointHeight, propose, type ProposalKind, reason } from './proposal.ts'

declare module '../tables.ts' {
  interface OwnColumns {
    readonly retire_program: 'retiredVersion' | 'preservedValidators' | 'status'
  }
}

/** Enough for 200 keys. */
const PRESERVED_BYTES_MAX = 9216

/** Source: interface, proposeRetireProgram; protocol.md §6. */
export const proposeRetireProgram = defineProposal({
  operation: 'proposeRetireProgram',
  doc: 'Proposes to retire the program: listed validators are preserved, all others are deactivated.',
  input: {
    preservedValidators: field(
      textOf(PRESERVED_BYTES_MAX),
      `public keys in base64, separated by commas; at most ${PRESERVED_BYTES_MAX} bytes`,
    ),
    reason: reason(),
    retiredBlockHeight: pointHeight('the program retires'),
  },
  event: defineEvent({
    type: 'svc.governance.proposeRetireProgram',
    attributes: ['proposal_id'],
    doc: 'The retirement of the program was proposed.',
  }),
  execute: (context, message) => {
    const { preservedValidators } = message
    const version = programVersion(context.state)
    return propose(context, {
      fields: { type: 'retire_program', retiredVersion: String(version), preservedValidators, status: 'init' },
      reason: message.reason,
      height: message.retiredBlockHeight,
      attributes: {},
      rules: () => {
        if (hasStandingRetirement(context.state, version)) return governanceErrors.standingRetirement
        const why = whyNotPreserved(context.state, preservedValidators)
        return why === undefined ? undefined : invalidParameter(why)
      },
    })
  },
})

/** Why a preservedValidators list is refused, or undefined. Source: protocol.md §6, retire_program. */
function whyNotPreserved(state: StateReader, list: string): string | undefined {
  if (list === '') return 'preservedValidators: expected a comma separated list of public keys, got ""'
  const keys = new Set<PubKey>()
  for (const text of list.split(',')) {
    const key = parsePubKey(text)
    if (key === undefined)
      return `preservedValidators: expected base64 of 32 bytes, got ${JSON.stringify(text.slice(0, 60))}`
    if (keys.has(key)) return `preservedValidators: ${text} is named twice`
    if (!isEligibleKey(state, key)) return `preservedValidators: ${text} is not the key of an eligible candidacy`
    keys.add(key)
  }
  return undefined
}

const NOBODY_PRESERVED = 'No preserved validator is active'

const shape = record('ProgramRetirementDetail', {
  retired_version: text,
  preserved_validators: text,
  reason: text,
  status: enumOf(...RETIREMENT_STATUSES),
})

/** Ends this program version; whoever is not preserved is deactivated. Source: protocol.md §7, retire_program. */
export const retireProgram: ProposalKind<'retire_program', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at its point',
  carryOut: (state, block, proposal) => {
    const keys = new Set(proposal.preservedValidators.split(',').map((text) => parsePubKey(text) as PubKey))
    if (![...keys].some((key) => isEligibleKey(state, key)))
      return { proposal: { ...proposal, status: 'rejected' }, rejected: NOBODY_PRESERVED }
    deactivateAllBut(state, keys, block.time)
    raiseProgramVersion(state)
    return { proposal: { ...proposal, status: 'success' } }
  },
  drop: (_state, proposal) => ({ ...proposal, status: 'rejected' }),
  detail: ({ retiredVersion, preservedValidators, reason: why, status }) => ({
    retired_version: retiredVersion,
    preserved_validators: preservedValidators,
    reason: why,
    // Every retirement has a status: the empty one is that of other kinds.
    status: status as Exclude<typeof status, ''>,
  }),
}
