/**
 * Writes the skeleton of a transaction type: `npm run new:tx <module> <name>`, as in `npm run new:tx accounts burn`. It
 * adds the message and its member of TxBody, the operation's file, its line in the registry, its test, what the page says
 * of it, and the call that records its example. `npm run new:tx governance proposeRaiseLimit` writes a kind of proposal,
 * `raise_limit`. What is left is said at the end. Source: CONTRIBUTING.md, A new transaction type.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const upper = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** A name or a module that no transaction type can be made for. */
export class NewTxError extends Error {}

function operationFile(module: string, name: string): string {
  const call = module === 'accounts' ? name : `${module}.${name}`
  return `import { invalidParameter } from '../../../base/txError.ts'
import { field, type ValuesOf } from '../../../tx/fields.ts'
import { amount } from '../../../values/number.ts'
import { defineTx, effects, type Outcome, type TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'

const input = { value: field(amount, 'amount above 0, in base units') }

const event = defineEvent({
  type: 'svc.${module}.${name}',
  attributes: ['value'],
  doc: 'Say here in one sentence what happened.',
})

/** Source: protocol.md §3, ${name}. */
export const ${name} = defineTx({
  operation: '${name}',
  call: '${call}',
  event,
  doc: 'Say here in one sentence what it does.',
  input,
  gas: () => 21_000,
  execute: execute${upper(name)},
})

function execute${upper(name)}(_context: TxContext, { value }: ValuesOf<typeof input>): Outcome<typeof event> {
  if (value === 0n) return invalidParameter('value: expected more than 0, got 0')
  // Call functions of ../keeper.ts here: nothing else writes the tables of a module.
  return effects(() => ({ attributes: { value: value.toString() } }))
}
`
}

const testFile = (module: string, name: string): string => `import { describe, expect, test } from '@jest/globals'
import { account } from '../../support/testChain.ts'
import { done, eventsOf, failure, startChain } from '../support.ts'

describe('${name}', () => {
  test('say here what it does', () => {
    const chain = startChain()
    const result = done(chain, account(5), '${name}', { value: '7' })
    expect(eventsOf(result)).toEqual([\`svc.${module}.${name} sender=\${account(5).address} value=7\`])
  })

  test('a value of 0 fails', () => {
    expect(failure(startChain(), account(5), '${name}', { value: '0' })).toBe(
      '20 Invalid parameter: value: expected more than 0, got 0',
    )
  })
})
`

/** The kind that an operation proposes: `raise_limit` for `proposeRaiseLimit`. */
const kindOf = (name: string): string => snake(name.slice('propose'.length)).slice(1)

/** The name of its `ProposalKind`: `raiseLimit`. */
const kindName = (name: string): string => `${name.slice(7, 8).toLowerCase()}${name.slice(8)}`

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

/** A change of a text: what is added where. Throws a NewTxError when the place is not there. */
type Edit = (text: string) => string

/** Adds lines behind the last line that `pattern` matches, or before it. */
const besideLast =
  (side: 'behind' | 'before', pattern: RegExp, added: string): Edit =>
  (text) => {
    const lines = text.split('\n')
    const last = lines.findLastIndex((line) => pattern.test(line))
    if (last < 0) throw new NewTxError(`no line like ${pattern}`)
    lines.splice(side === 'behind' ? last + 1 : last, 0, added)
    return lines.join('\n')
  }

/** Adds a line at the end of the list or object that the line `head` opens. */
const inList =
  (head: RegExp, added: string): Edit =>
  (text) => {
    const start = text.search(head)
    const end = text.slice(start).search(/\n[\]}]/)
    if (start < 0 || end < 0) throw new NewTxError(`no list that begins like ${head}`)
    return `${text.slice(0, start + end)}\n${added}${text.slice(start + end)}`
  }

const ahead =
  (added: string): Edit =>
  (text) =>
    `${added}\n${text}`

const atEnd =
  (added: string): Edit =>
  (text) =>
    `${text.trimEnd()}\n\n${added}\n`

/** A member more in a one-line list of texts. */
const inTexts =
  (name: string, added: string): Edit =>
  (text) => {
    const list = new RegExp(`(export const ${name} = \\[[^\\]]*)\\] as const`)
    if (!list.test(text)) throw new NewTxError(`no list ${name}`)
    return text.replace(list, `$1, '${added}'] as const`)
  }

/** The oneof of TxBody with one member more, numbered behind the others of its module. */
const withMember =
  (module: string, name: string): Edit =>
  (proto) => {
    const ofModule = new RegExp(`^ *svc\\.${module}\\.\\w+ \\w+ = (\\d+);`)
    const numbers = (pattern: RegExp): number[] =>
      [...proto.matchAll(new RegExp(pattern, 'gm'))].map(([, n]) => Number(n))
    const number = Math.max(...numbers(ofModule)) + 1
    if (numbers(/^ *svc\.\w+\.\w+ \w+ = (\d+);/).includes(number))
      throw new NewTxError(`the members of ${module} in proto/svc/tx.proto have no free number behind them`)
    return besideLast('behind', ofModule, `    svc.${module}.${upper(name)} ${snake(name)} = ${number};`)(proto)
  }

/** What every transaction type adds to files that are there. `file`: the operation's, from src/modules on. */
const editsOf = (module: string, name: string, file: string, members: string) =>
  [
    [`proto/svc/${module}.proto`, atEnd(`message ${upper(name)} {\n${members}}`)],
    ['proto/svc/tx.proto', withMember(module, name)],
    ['src/modules/registry.ts', ahead(`import { ${name} } from './${file}'`)],
    ['src/modules/registry.ts', inList(/^export const txEntries\b/m, `  ${name},`)],
    [
      'src/dashboard/words.ts',
      inList(/^const telling\b/m, `  [${module}.${name}]: () => ['says here what happened'],`),
    ],
    ['src/dashboard/wallet/cost.ts', besideLast('behind', /^ {4}case 'vote':$/, `    case '${name}':`)],
  ] as const

/** What an operation that is no proposal adds beside: what the page says, and its example. */
const operationEdits = (module: string, name: string) =>
  [
    ...editsOf(module, name, `${module}/tx/${name}.ts`, '  string value = 1;\n'),
    [
      'src/dashboard/wallet/words.ts',
      besideLast('before', /^ {4}case 'vote':$/, `    case '${name}':\n      return 'Say here what it does.'`),
    ],
    [
      'test/dashboard/walletWords.test.ts',
      inList(/^const SAID\b/m, `  ${name}: [[{ value: '7' }, 'Say here what it does.']],`),
    ],
    [
      'tools/record-examples.ts',
      besideLast(
        'behind',
        /^async function recordAccounts\(/,
        `  await record('svc_${name}', { from: owner, value: '7' })`,
      ),
    ],
  ] as const

const PROPOSAL_MEMBERS = [
  'string value',
  'optional string reason',
  'optional uint64 expire_block_height',
  'optional uint64 expire_timestamp',
]
  .map((member, at) => `  ${member} = ${at + 1};\n`)
  .join('')

/** What a kind of proposal adds. It keeps its value in a column that there is already. */
function proposalEdits(module: string, name: string) {
  const [kind, own] = [kindOf(name), kindName(name)]
  const caseOf = (indent: string, what: string): string => `${indent}case '${kind}':\n${indent}  return ${what}`
  return [
    ...editsOf(module, name, `governance/proposals/${own}.ts`, PROPOSAL_MEMBERS),
    ['src/modules/governance/block.ts', ahead(`import { ${own} } from './proposals/${own}.ts'`)],
    ['src/modules/governance/block.ts', inList(/^export const proposalKinds\b/m, `  ${kind}: ${own},`)],
    ['src/modules/governance/tables.ts', inTexts('PROPOSAL_TYPES', kind)],
    ['src/modules/governance/tables.ts', inList(/^interface OwnColumns\b/m, `  readonly ${kind}: 'value'`)],
    [
      'src/dashboard/data/proposals.ts',
      inList(/^export const TYPE_TITLES\b/m, `  ${kind}: '${upper(kind.replaceAll('_', ' '))}',`),
    ],
    [
      'src/dashboard/parts/proposal.tsx',
      besideLast('before', /^ {4}case 'change_param':$/, caseOf('    ', "'Say here what it does'")),
    ],
    [
      'src/dashboard/pages/proposals/Detail.tsx',
      besideLast('before', /^ {4}case 'change_param':$/, caseOf('    ', '{ value: change.detail.value }')),
    ],
    [
      'src/dashboard/wallet/words.ts',
      besideLast('before', /^ {4}case 'change_param':$/, caseOf('    ', "'says here what it does'")),
    ],
    [
      'src/dashboard/wallet/words.ts',
      besideLast(
        'before',
        /^ {4}case 'proposeChangeParam':$/,
        `    case '${name}':\n      return 'say here what it does'`,
      ),
    ],
    [
      'test/dashboard/walletWords.test.ts',
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

/** What a name and a module become: new files, and edits of others. */
function skeletonOf(module: string, name: string) {
  const isProposal = module === 'governance' && /^propose[A-Z]/.test(name)
  if (!isProposal) {
    const files = {
      [`src/modules/${module}/tx/${name}.ts`]: operationFile(module, name),
      [`test/modules/${module}/${name}.test.ts`]: testFile(module, name),
    }
    return { files, edits: operationEdits(module, name) }
  }
  const files = {
    [`src/modules/governance/proposals/${kindName(name)}.ts`]: proposalFile(name),
    [`test/modules/governance/${kindName(name)}.test.ts`]: proposalTest(name),
  }
  return { files, edits: proposalEdits(module, name) }
}

/** Writes the skeleton into the project at `root`; returns the files that it wrote. Throws a NewTxError. */
export function newTx(root: string, module: string, name: string): readonly string[] {
  if (!/^[a-z][a-zA-Z]{1,40}$/.test(name)) throw new NewTxError(`${name}: expected a name like updateCandidacy`)
  if (!/^[a-z]+$/.test(module) || !existsSync(join(root, `proto/svc/${module}.proto`)))
    throw new NewTxError(`${module}: expected a module with a file proto/svc/<module>.proto`)
  const { files, edits } = skeletonOf(module, name)
  for (const path of Object.keys(files)) if (existsSync(join(root, path))) throw new NewTxError(`${path} exists`)
  const texts = new Map<string, string>()
  for (const [path, edit] of edits) texts.set(path, edit(texts.get(path) ?? readFileSync(join(root, path), 'utf8')))
  for (const [path, text] of Object.entries(files)) texts.set(path, text)
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...texts.keys()]
}

if (import.meta.main) {
  const [module = '', name = ''] = process.argv.slice(2)
  try {
    const files = newTx(join(import.meta.dirname, '..'), module, name)
    process.stdout.write(
      `Wrote ${files.join(', ')}.\nNext: give the message its fields and the operation its rules, then run\n` +
        '  npm run gen && node_modules/.bin/biome check --write src test && npm run reference && npm run vectors && npm run examples\n' +
        'Describe the operation in docs/protocol.md and in the README of its module. CONTRIBUTING.md lists every place.\n',
    )
  } catch (error) {
    if (!(error instanceof NewTxError)) throw error
    process.stderr.write(`new:tx: ${error.message}\nUsage: npm run new:tx <module> <name>\n`)
    process.exitCode = 2
  }
}
