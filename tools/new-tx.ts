/**
 * Writes the skeleton of a transaction type: `npm run new:tx <module> <name>`, as in `npm run new:tx accounts burn`. It
 * adds the message and its member of TxBody, the operation's file, its line in the registry and its test. What is left
 * is said at the end. Source: CONTRIBUTING.md, A new transaction type.
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
import { field, type MessageOf } from '../../../tx/fields.ts'
import { amount } from '../../../values/number.ts'
import { defineTx, effects, type Outcome, type TxContext } from '../../define.ts'

const input = { value: field(amount, 'amount above 0, in base units') }

/** Source: protocol.md §3, ${name}. */
export const ${name} = defineTx({
  operation: '${name}',
  call: '${call}',
  event: 'svc.${module}.${name}',
  doc: 'Say here in one sentence what it does.',
  input,
  gas: () => 21_000,
  execute: execute${upper(name)},
})

function execute${upper(name)}(_context: TxContext, message: MessageOf<typeof input>): Outcome {
  const value = BigInt(message.value)
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

/** Puts `line` behind the last line of `text` that `pattern` matches. */
function after(text: string, pattern: RegExp, line: string): string {
  const lines = text.split('\n')
  const last = lines.findLastIndex((one) => pattern.test(one))
  if (last < 0) throw new NewTxError(`no line like ${pattern}`)
  return [...lines.slice(0, last + 1), line, ...lines.slice(last + 1)].join('\n')
}

/** The oneof of TxBody with one member more, numbered behind the others of its module. */
function withMember(proto: string, module: string, name: string): string {
  const ofModule = new RegExp(`^ *svc\\.${module}\\.\\w+ \\w+ = (\\d+);`)
  const numbers = (pattern: RegExp): number[] =>
    [...proto.matchAll(new RegExp(pattern, 'gm'))].map(([, n]) => Number(n))
  const number = Math.max(...numbers(ofModule)) + 1
  if (numbers(/^ *svc\.\w+\.\w+ \w+ = (\d+);/).includes(number))
    throw new NewTxError(`the members of ${module} in proto/svc/tx.proto have no free number behind them`)
  return after(proto, ofModule, `    svc.${module}.${upper(name)} ${snake(name)} = ${number};`)
}

/** The registry with the import of the new entry, and the entry at the end of the list. */
function withEntry(registry: string, module: string, name: string): string {
  const imported = `import { ${name} } from './${module}/tx/${name}.ts'\n`
  const list = 'export const txEntries: readonly TxEntry[] = ['
  const [head, tail] = registry.split(list)
  if (head === undefined || tail === undefined) throw new NewTxError('the registry has no txEntries')
  return `${imported}${head}${list}${tail.replace(/\n\]/, `\n  ${name},\n]`)}`
}

/** Writes the skeleton into the project at `root`; returns the files that it wrote. Throws a NewTxError. */
export function newTx(root: string, module: string, name: string): readonly string[] {
  const operation = `src/modules/${module}/tx/${name}.ts`
  const test = `test/modules/${module}/${name}.test.ts`
  const [message, envelope, registry] = [`proto/svc/${module}.proto`, 'proto/svc/tx.proto', 'src/modules/registry.ts']
  if (!/^[a-z][a-zA-Z]{1,40}$/.test(name)) throw new NewTxError(`${name}: expected a name like updateCandidacy`)
  if (!/^[a-z]+$/.test(module) || !existsSync(join(root, message)))
    throw new NewTxError(`${module}: expected a module with a file proto/svc/<module>.proto`)
  for (const path of [operation, test]) if (existsSync(join(root, path))) throw new NewTxError(`${path} exists`)
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const files: Readonly<Record<string, string>> = {
    [message]: `${read(message).trimEnd()}\n\nmessage ${upper(name)} {\n  string value = 1;\n}\n`,
    [envelope]: withMember(read(envelope), module, name),
    [operation]: operationFile(module, name),
    [registry]: withEntry(read(registry), module, name),
    [test]: testFile(module, name),
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return Object.keys(files)
}

if (import.meta.main) {
  const [module = '', name = ''] = process.argv.slice(2)
  try {
    const files = newTx(join(import.meta.dirname, '..'), module, name)
    process.stdout.write(
      `Wrote ${files.join(', ')}.\nNext: give the message its fields and the operation its rules, then run\n` +
        '  npm run gen && node_modules/.bin/biome check --write src test && npm run reference && npm run vectors\n' +
        'Describe the operation in docs/protocol.md §3 and in the README of its module.\n',
    )
  } catch (error) {
    if (!(error instanceof NewTxError)) throw error
    process.stderr.write(`new:tx: ${error.message}\nUsage: npm run new:tx <module> <name>\n`)
    process.exitCode = 2
  }
}
