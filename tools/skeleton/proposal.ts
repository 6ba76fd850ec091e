/** The skeleton of a kind of proposal. */
import { ahead, besideLast, inList, inTexts } from './edits.ts'
import { upper, words } from './names.ts'
import { editsOf, pageFile } from './operation.ts'
import type { Skeleton } from './write.ts'

/** The name of the `ProposalKind` of an operation: `raiseLimit` for `proposeRaiseLimit`. */
const kindName = (name: string): string => `${name.slice(7, 8).toLowerCase()}${name.slice(8)}`

/** The kind that it proposes: `raise_limit`. */
const kindOf = (name: string): string => words(kindName(name), '_')

function proposalFile(name: string): string {
  const [kind, type] = [kindOf(name), upper(kindName(name))]
  return `import { invalidParameter } from '../../../base/txError.ts'
import type { State } from '../../../store/state.ts'
import { field, type ValuesOf } from '../../../tx/fields.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { text } from '../../../values/text.ts'
import type { Block, Outcome, TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import type { ProposalOf } from '../tables.ts'
import { type CarriedOut, defineProposal, expiringFields, propose, type ProposalKind } from './proposal.ts'

type ${type} = ProposalOf<'${kind}'>

const input = { value: field(text, 'say here what it is'), ...expiringFields }

const event = defineEvent({
  type: 'svc.governance.${name}',
  attributes: ['proposal_id'],
  doc: 'Say here in one sentence what was proposed.',
})

/** Source: protocol.md §6, ${kind}. */
export const ${name} = defineProposal({
  operation: '${name}',
  doc: 'Say here in one sentence what it proposes.',
  input,
  event,
  execute: executePropose,
})

function executePropose(context: TxContext, given: ValuesOf<typeof input>): Outcome<typeof event> {
  const { value } = given
  return propose(context, {
    fields: { type: '${kind}', value },
    reason: given.reason,
    height: given.expireBlockHeight,
    timestamp: given.expireTimestamp,
    attributes: {},
    rules: () => (value === '' ? invalidParameter('value: expected a text, got ""') : undefined),
  })
}

const shape = record('${type}Detail', { value: text, reason: text })

/** Say here what its approval does. Source: protocol.md §6, ${kind}. */
export const ${kindName(name)}: ProposalKind<'${kind}', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at approval',
  carryOut: carry,
  detail: ({ value, reason: why }) => ({ value, reason: why }),
}

function carry(_state: State, _block: Block, proposal: ${type}): CarriedOut<${type}> {
  // Call functions of the keepers here: nothing else writes the tables of a module.
  return { proposal }
}
`
}

const proposalTest = (name: string): string => `import { describe, expect, test } from '@jest/globals'
import { account } from '../../support/testChain.ts'
import { govChain, proposed, refusedIn, shown, voted } from './support.ts'

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
    expect(refusedIn(govChain([70, 30]), account(1), '${name}', { value: '' })).toEqual([
      20,
      'Invalid parameter: value: expected a text, got ""',
    ])
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

/** What the page says of a kind of proposal. */
function kindPageFile(name: string): string {
  const [kind, own] = [kindOf(name), kindName(name)]
  return `import { Facts } from '../parts/layout.tsx'
import { UserText } from '../parts/text.tsx'
import type { DetailOf, KindPage } from './kind.tsx'

/** Say here what it is. */
export const ${own}: KindPage<DetailOf<'${kind}'>> = {
  title: '${upper(words(own, ' '))}',
  doc: 'Say here what it does.',
  sentence: () => 'Say here what it does',
  effect: () => 'says here what it does',
  Changes: ({ detail }) => <Facts facts={{ Value: <UserText text={detail.value} /> }} />,
  useForm: () => ({ operation: '${name}' }),
}
`
}

/** What a kind of proposal adds. It keeps its value in a column that there is already. */
function proposalEdits(name: string) {
  const [kind, own] = [kindOf(name), kindName(name)]
  return [
    ...editsOf('governance', name, `governance/proposals/${own}.ts`, PROPOSAL_MEMBERS),
    ['src/modules/governance/block.ts', ahead(`import { ${own} } from './proposals/${own}.ts'`)],
    ['src/modules/governance/block.ts', inList(/^export const proposalKinds\b/m, `  ${kind}: ${own},`)],
    ['src/modules/governance/tables.ts', inTexts('PROPOSAL_TYPES', kind)],
    ['src/modules/governance/tables.ts', inList(/^interface OwnColumns\b/m, `  readonly ${kind}: 'value'`)],
    ['src/dashboard/proposals/index.ts', ahead(`import { ${own} } from './${own}.tsx'`)],
    ['src/dashboard/proposals/index.ts', inList(/^export const kinds\b/m, `  ${kind}: ${own},`)],
    [
      'test/dashboard/operations.test.ts',
      inList(/^const SAID\b/m, `  ${name}: [[{ value: 'seven' }, 'Propose to say here what it does.']],`),
    ],
    [
      'tools/record-examples.ts',
      besideLast(
        'behind',
        /^async function recordGovernance\(/,
        `  await record('svc_${name}', { from: owner, value: 'seven' })`,
      ),
    ],
  ] as const
}

/** What an operation `propose…` of governance becomes. */
export const proposalSkeleton = (name: string): Skeleton => ({
  files: {
    [`src/modules/governance/proposals/${kindName(name)}.ts`]: proposalFile(name),
    [`src/dashboard/operations/${name}.ts`]: pageFile(
      name,
      'Propose to say here what it does.',
      ', ...expiringFields',
    ).replace('import type { OperationPage }', 'import { expiringFields, type OperationPage }'),
    [`src/dashboard/proposals/${kindName(name)}.tsx`]: kindPageFile(name),
    [`test/modules/governance/${kindName(name)}.test.ts`]: proposalTest(name),
  },
  edits: proposalEdits(name),
})
