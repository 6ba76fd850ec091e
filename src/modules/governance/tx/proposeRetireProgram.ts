import { invalidParameter } from '../../../base/txError.ts'
import { text } from '../../../tx/members.ts'
import { programVersion } from '../../chain/keeper.ts'
import { defineTx } from '../../define.ts'
import { governanceErrors } from '../errors.ts'
import { hasStandingRetirement } from '../keeper.ts'
import { parsePreserved } from '../proposal/retireProgram.ts'
import { pointHeight, propose, reason } from './propose.ts'

/** Proposes to retire the program. Source: interface, proposeRetireProgram; protocol.md §6. */
export const proposeRetireProgram = defineTx({
  operation: 'proposeRetireProgram',
  method: 'svc_proposeRetireProgram',
  call: 'governance.proposeRetireProgram',
  event: 'svc.governance.proposeRetireProgram',
  doc: 'Proposes to retire the program: listed validators are preserved, all others are deactivated.',
  input: { preservedValidators: text(9216), reason: reason(), retiredBlockHeight: pointHeight('the program retires') },
  returns: 'ProposalID',
  gas: (params) => params.governanceProposal,
  execute: (context, { preservedValidators, reason: why = '', retiredBlockHeight }) => {
    const version = programVersion(context.state)
    return propose(context, {
      type: 'retire_program',
      point: { height: retiredBlockHeight },
      row: { retiredVersion: String(version), preservedValidators, reason: why, status: 'init' },
      rules: () => {
        if (hasStandingRetirement(context.state, version)) return governanceErrors.standingRetirement
        const preserved = parsePreserved(context.state, preservedValidators)
        return 'why' in preserved ? invalidParameter(preserved.why) : undefined
      },
    })
  },
})
