/** The skeleton of an operation that proposes nothing. */
import { upper, words } from '../names.ts'
import { type Edit, type Skeleton, SkeletonError } from './write.ts'

/** The event of an operation. Delegation is staking to whoever reads events. */
const eventOf = (module: string, name: string): string => `svc.${module === 'delegation' ? 'stake' : module}.${name}`

function operationFile(module: string, name: string): string {
  const call = module === 'accounts' ? name : `${module}.${name}`
  return `import { invalidParameter } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { amount } from '../../../values/number.ts'
import { defineTx, effects } from '../../define.ts'
import { defineEvent } from '../../event.ts'

/** Source: protocol.md §3, ${name}. */
export const ${name} = defineTx({
  operation: '${name}',
  call: '${call}',
  event: defineEvent({
    type: '${eventOf(module, name)}',
    attributes: ['value'],
    doc: 'Say here in one sentence what happened.',
  }),
  doc: 'Say here in one sentence what it does.',
  input: { value: field(amount, 'amount above 0, in base units') },
  gas: () => 21_000,
  execute: (_context, { value }) => {
    if (value === 0n) return invalidParameter('value: expected more than 0, got 0')
    // Call functions of ../keeper.ts here: nothing else writes the tables of a module.
    return effects(() => ({ attributes: { value: value.toString() } }))
  },
})
`
}

const testFile = (module: string, name: string): string => `import { describe, expect, test } from '@jest/globals'
import { account } from '../../support/testChain.ts'
import { done, eventsOf, failure, startChain } from '../support.ts'

describe('${name}', () => {
  test('say here what it does', () => {
    const chain = startChain()
    const result = done(chain, account(5), '${name}', { value: '7' })
    expect(eventsOf(result)).toEqual([\`${eventOf(module, name)} sender=\${account(5).address} value=7\`])
  })

  test('a value of 0 fails', () => {
    expect(failure(startChain(), account(5), '${name}', { value: '0' })).toBe(
      '20 Invalid parameter: value: expected more than 0, got 0',
    )
  })
})
`

/** The oneof of TxBody with one member more, numbered behind the others of its module. */
const withMember =
  (module: string, name: string): Edit =>
  (proto) => {
    const members = [...proto.matchAll(/^ *svc\.(\w+)\.\w+ \w+ = (\d+);/gm)].map(([line, of, number]) => ({
      line,
      of,
      number: Number(number),
    }))
    const last = members.findLast(({ of }) => of === module)
    if (last === undefined || members.some(({ number }) => number === last.number + 1))
      throw new SkeletonError(`proto/svc/tx.proto has no free number behind the members of ${module}`)
    const added = `    svc.${module}.${upper(name)} ${words(name, '_')} = ${last.number + 1};`
    return proto.replace(last.line, `${last.line}\n${added}`)
  }

const pageFile = (name: string): string => `import type { OperationPage } from './operation.ts'

export const ${name}: OperationPage<'${name}'> = {
  title: '${upper(words(name, ' '))}',
  words: () => ['say here what it does'],
  happened: () => ['says here what happened'],
  sentence: () => 'Say here what it does.',
  fields: { value: { label: 'Value' } },
}
`

/** What every transaction type adds to the messages: its own, with these lines, and a member of TxBody. */
export function editsOf(module: string, name: string, members: string) {
  const [path, message] = [`proto/svc/${module}.proto`, upper(name)]
  const withMessage: Edit = (text) => {
    if (text.includes(`\nmessage ${message} {`)) throw new SkeletonError(`${path} has ${message}; choose another name`)
    return `${text.trimEnd()}\n\nmessage ${message} {\n${members}}\n`
  }
  return [
    [path, withMessage],
    ['proto/svc/tx.proto', withMember(module, name)],
  ] as const
}

/** What an operation of a module becomes. */
export const operationSkeleton = (module: string, name: string): Skeleton => ({
  files: {
    [`src/modules/${module}/tx/${name}.ts`]: operationFile(module, name),
    [`src/dashboard/operations/${name}.ts`]: pageFile(name),
    [`test/modules/${module}/${name}.test.ts`]: testFile(module, name),
  },
  edits: editsOf(module, name, '  string value = 1;\n'),
})
