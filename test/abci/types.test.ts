import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { abciTypes } from '../../tools/abciTypes.ts'

const root = join(import.meta.dirname, '../..')
const message = (name: string, type: string) => ({ comment: `${name}.`, fields: { [type]: { type, id: 1 } } })

test('types: a response may leave out its members, and a request what the node may leave out', () => {
  const source = abciTypes({
    Request: { fields: { ask: { type: 'RequestAsk', id: 1 } } },
    RequestAsk: {
      comment: 'Asks.',
      fields: { at: { type: 'int64', id: 1 }, more: { type: 'Sent', id: 2, options: { proto3_optional: true } } },
    },
    Response: { fields: { ask: { type: 'ResponseAsk', id: 1 } } },
    ResponseAsk: {
      comment: 'Answers.',
      fields: { all: { type: 'Made', id: 1, rule: 'repeated' }, inner: { type: 'Inner', id: 2 } },
    },
    Sent: message('Sent', 'bytes'),
    Made: message('Made', 'string'),
    Inner: { fields: { isSet: { type: 'bool', id: 1 } } },
  })
  expect(source).toContain('export interface AskRequest {\n  at: number\n  more?: Sent\n}')
  expect(source).toContain('export interface AskResponse {\n  all?: readonly Made[]\n  inner?: { isSet?: boolean }\n}')
  expect(source).toContain('/**\n * Sent.\n */\nexport interface Sent {\n  bytes: Uint8Array\n}')
  expect(source).toContain('export interface Made {\n  string?: string\n}')
  expect(source).toContain('  ask: [AskRequest, AskResponse]\n')
})

test('types: the docstring of every export of svcd/abci has an example', () => {
  const index = readFileSync(join(root, 'src/abci/index.ts'), 'utf8')
  const named = [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names = '']) => names.split(/, */))
    .map((name) => name.trim())
  const files = [
    'src/abci/types.ts',
    'src/codec/gen/abci.types.ts',
    'src/abci/server.ts',
    'src/abci/frame.ts',
    'src/abci/baseApplication.ts',
    'src/abci/blockBytes.ts',
  ]
  const declared = files.flatMap((file) =>
    [
      ...readFileSync(join(root, file), 'utf8').matchAll(
        /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*export (?:async )?(?:interface|type|const|function) (\w+)/g,
      ),
    ].filter(([, , name = '']) => file.includes('types') || named.includes(name)),
  )
  expect(declared.length).toBeGreaterThan(70)
  expect(declared.filter(([, doc = '']) => !/@example \S/.test(doc)).map(([, , name]) => name)).toEqual([])
})
