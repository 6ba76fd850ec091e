/** The skeleton of a kind of proposal. */
import { upper, words } from '../names.ts'
import { editsOf } from './operation.ts'
import type { Skeleton } from './write.ts'

/** The name of the `ProposalKind` of an operation: `raiseLimit` for `proposeRaiseLimit`. */
const kindName = (name: string): string => `${name.slice(7, 8).toLowerCase()}${name.slice(8)}`

/** The kind that it proposes: `raise_limit`. */
const kindOf = (name: string): string => words(kindName(name), '_')

function proposalFile(name: string): string {
  const [kind, type] = [kindOf(name), upper(kindName(name))]
  return `import { invalidParameter } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { text } from '../../../values/text.ts'
import { defineEvent } from '../../event.ts'
import { defineProposal, expiringFields, propose, type ProposalKind } from './proposal.ts'

declare module '../tables.ts' {
  interface OwnColumns {
    readonly ${kind}: 'value'
  }
}

/** Source: protocol.md §6, ${kind}. */
export const ${name} = defineProposal({
  operation: '${name}',
  doc: 'Say here in one sentence what it proposes.',
  input: { value: field(text, 'say here what it is'), ...expiringFields },
  event: defineEvent({
    type: 'svc.governance.${name}',
    attributes: ['proposal_id'],
    doc: 'Say here in one sentence what was proposed.',
  }),
  execute: (context, given) => {
    const { value } = given
    return propose(context, {
      fields: { type: '${kind}', value },
      reason: given.reason,
      height: given.expireBlockHeight,
      timestamp: given.expireTimestamp,
      attributes: {},
      rules: () => (value === '' ? invalidParameter('value: expected a text, got ""') : undefined),
    })
  },
})

const shape = record('${type}Detail', { value: text, reason: text })

/** Say here what its approval does. Source: protocol.md §6, ${kind}. */
export const ${kindName(name)}: ProposalKind<'${kind}', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at approval',
  carryOut: (_state, _block, proposal) => {
    // Call functions of the keepers here: nothing else writes the tables of a module.
    return { proposal }
  },
  detail: ({ value, reason: why }) => ({ value, reason: why }),
}
`
}

const proposalTest = (name: string): string => `import { describe, expect, test } from '@jest/globals'
import { account } from '../../support/testChain.ts'
import { failure } from '../support.ts'
import { govChain, proposed, shown, voted } from './support.ts'

describe('${name}', () => {
  test('say here what its approval does', () => {
    const chain = govChain([70, 30])
    const id = proposed(chain, account(1), '${name}', { value: 'seven' })
    voted(chain, account(1), id)
    expect(shown(chain, id)).toMatchObject({
      Type: '${kindOf(name)}',
      Result: 'Approved',
      Detail: { value: 'seven', reason: '' },
    })
  })

  test('an empty value is refused', () => {
    expect(failure(govChain([70, 30]), account(1), '${name}', { value: '' })).toBe(
      '20 Invalid parameter: value: expected a text, got ""',
    )
  })
})
`

const PROPOSAL_MEMBERS = [
  'string value',
  'optional string reason',
  'optional uint64 expire_block_height',
  'optional uint64 expire_timestamp',
]
  .map((member, at) => `  ${member} = ${at + 1};\n`)
  .join('')

/** What the page says of a kind of proposal and of its operation. */
function pageFile(name: string): string {
  const [kind, own] = [kindOf(name), kindName(name)]
  return `import type { ProposalOf } from '../data/proposals.ts'
import { expiringFields, type OperationPage, proposalOf } from '../operations/operation.ts'
import { Facts } from '../parts/layout.tsx'
import { UserText } from '../parts/text.tsx'
import type { KindPage } from './kind.tsx'

export const ${name}: OperationPage<'${name}'> = {
  title: '${upper(words(name, ' '))}',
  words: () => ['propose to say here what it does'],
  happened: (of) => ['proposed to say here what it does: ', proposalOf(of)],
  sentence: () => 'Propose to say here what it does.',
  fields: { value: { label: 'Value' }, ...expiringFields },
}

export const ${own}: KindPage<ProposalOf<'${kind}'>> = {
  title: '${upper(words(own, ' '))}',
  doc: 'Say here what it does.',
  sentence: () => 'Say here what it does',
  effect: () => 'says here what it does',
  Changes: ({ proposal }) => <Facts facts={{ Value: <UserText text={proposal.Detail.value} /> }} />,
  useForm: () => ({ operation: '${name}' }),
}
`
}

/** What an operation `propose…` of governance becomes. It keeps its value in a column that there is already. */
export const proposalSkeleton = (name: string): Skeleton => ({
  files: {
    [`src/modules/governance/proposals/${kindName(name)}.ts`]: proposalFile(name),
    [`src/dashboard/proposals/${kindName(name)}.tsx`]: pageFile(name),
    [`test/modules/governance/${kindName(name)}.test.ts`]: proposalTest(name),
  },
  edits: editsOf('governance', name, PROPOSAL_MEMBERS),
})
