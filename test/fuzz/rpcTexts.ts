import { type Next, pick, randomBytes } from './bytes.ts'
import type { Described } from './rpcModel.ts'

/** A piece of JSON as it is written; objects may have a key twice. */
type Json = string

const text = (value: unknown): Json => JSON.stringify(value) ?? 'null'
const object = (members: readonly (readonly [key: string, value: Json])[]): Json =>
  `{${members.map(([key, value]) => `${text(key)}:${value}`).join(',')}}`
const array = (values: readonly Json[]): Json => `[${values.join(',')}]`

const nest = (depth: number, inner: Json): Json => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`
const nestObject = (depth: number): Json => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** Values near what members take, and far from it. */
const NEAR: readonly unknown[] = [
  null,
  true,
  '',
  'x',
  0,
  1,
  -1,
  7,
  1.5,
  -0,
  2 ** 53 - 1,
  2 ** 53,
  1e21,
  '0',
  '7',
  '0x1f',
  '-1',
  '1e3',
  '12',
  '9'.repeat(37),
  '9'.repeat(400),
  'latest',
  'pending',
  'open',
  'Y',
  'N',
  'AQI=',
  'AQI',
  `0x${'aB'.repeat(20)}`,
  `0x${'ab'.repeat(21)}`,
  'ab'.repeat(32),
  '120/3',
  'transfer',
  'candidacies',
  [],
  {},
  { name: 'x' },
  { from: 1 },
  '\u0000',
  '\ud800',
  'é'.repeat(200),
  '<script>',
  '../../etc/passwd',
  "'; drop table blocks; --",
]

/** Numbers as only text can hold them, and what is written otherwise than it is read. */
const RAW: readonly Json[] = [
  '1e400',
  '-1e400',
  '1E5',
  '0.1e-999',
  '123456789012345678901234567890',
  '-0.0',
  '1.0',
  '"\\u0030x\\u0061b"',
  '"\\ud83d\\ude00"',
  ' [ ] ',
  '{ }',
]

const NO_JSON: readonly Json[] = [
  '',
  ' ',
  '{',
  '[',
  ']',
  '{}}',
  '[1,]',
  '{"a":1,}',
  "{'a':1}",
  'NaN',
  'undefined',
  '01',
  '+1',
  '.5',
  '"\\x41"',
  '"\u0001"',
  '// x',
  'nul',
  '\u0000',
  '{"jsonrpc":"2.0","method":"svc_status","id":1',
]

const POISON: readonly Json[] = [
  '{"__proto__":{"isAdmin":true}}',
  '{"\\u005f_proto__":1}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"constructor":1}',
  '{"a":{"b":[{"__proto__":null}]}}',
  '"__proto__"',
]

/** Makes texts for these methods. `own`: values of members that belong to somebody, such as the gateway's account. */
export function createTexts(described: readonly Described[], own: Readonly<Record<string, unknown>>) {
  const valueFor = (next: Next, method: Described, name: string): Json => {
    const example = method.examples[0]?.params.find((param) => param.name === name)?.value
    switch (next(8)) {
      case 0:
        return text(pick(next, NEAR))
      case 1:
        return next(4) === 0 ? pick(next, POISON) : pick(next, RAW)
      case 2:
        return next(6) === 0 ? nest(next(40), text(pick(next, NEAR))) : text(pick(next, NEAR))
      default:
        return text(Object.hasOwn(own, name) && next(2) === 0 ? own[name] : (example ?? pick(next, NEAR)))
    }
  }
  const membersOf = (next: Next, method: Described): readonly (readonly [string, Json])[] => {
    const members = method.params
      .filter(({ required }) => (required ? next(15) > 0 : next(3) === 0))
      .map(({ name }) => [name, valueFor(next, method, name)] as const)
    const more: (readonly [string, Json])[] = []
    if (next(12) === 0)
      more.push([pick(next, ['other', 'From', '', '__proto__', 'constructor', 'hasOwnProperty']), text(1)])
    const again = pick(next, method.params)
    if (again !== undefined && next(10) === 0) more.push([again.name, valueFor(next, method, again.name)])
    return [...members, ...more]
  }
  const paramsOf = (next: Next, method: Described): Json => {
    const values = (): readonly Json[] =>
      method.params.slice(0, next(method.params.length + 1)).map(({ name }) => valueFor(next, method, name))
    switch (next(14)) {
      case 0:
        return array([...values(), ...(next(3) === 0 ? [text(pick(next, NEAR))] : [])])
      case 1:
        return array(values())
      case 2:
        return array([object(membersOf(next, method))])
      case 3:
        return next(2) === 0 ? nest(10 + next(12), '1') : nestObject(10 + next(12))
      case 4:
        return text(pick(next, NEAR))
      default:
        return object(membersOf(next, method))
    }
  }
  const call = (next: Next): Json => {
    const method = pick(next, described)
    const members: (readonly [string, Json])[] = []
    if (next(25) > 0)
      members.push(['jsonrpc', next(20) > 0 ? '"2.0"' : pick(next, ['2.0', '"1.0"', 'null', '["2.0"]'])])
    if (next(25) > 0) {
      const name =
        next(15) > 0
          ? method.name
          : pick(next, [
              `${method.name}x`,
              method.name.toUpperCase(),
              '',
              '__proto__',
              'toString',
              'rpc.',
              'x'.repeat(5000),
            ])
      members.push(['method', next(25) > 0 ? text(name) : pick(next, ['1', 'null', '[]', '{}'])])
    }
    if (next(6) > 0) members.push(['params', paramsOf(next, method)])
    if (next(12) > 0)
      members.push([
        'id',
        next(5) > 0
          ? String(next(1000))
          : pick(next, [
              'null',
              '"a"',
              '""',
              '1.5',
              '-3',
              '1e400',
              '9007199254740993',
              '9007199254740991',
              'true',
              '[]',
              '{}',
              '"\\u0000"',
            ]),
      ])
    if (next(20) === 0)
      members.push([
        pick(next, ['id', 'method', 'jsonrpc', 'params']),
        pick(next, ['1', '"2.0"', '"svc_status"', '[]']),
      ])
    if (next(30) === 0) members.push(['extra', pick(next, [...RAW, ...POISON])])
    if (next(10) === 0) members.reverse()
    return object(members)
  }
  const broken = (next: Next, given: Json): Json => {
    const at = next(given.length + 1)
    return next(2) === 0 ? given.slice(0, at) : given.slice(0, at) + String.fromCharCode(next(128)) + given.slice(at)
  }
  return (next: Next): string => {
    switch (next(40)) {
      case 0:
        return pick(next, NO_JSON)
      case 1:
        return pick(next, POISON)
      case 2:
        return broken(next, call(next))
      case 3:
        return Buffer.from(randomBytes(next, next(60))).toString('latin1')
      case 4:
        return nest(pick(next, [1, 2, 17, 8185, 100_000]), call(next))
      case 5:
        return `\ufeff${call(next)}`
      case 6:
        return array(Array.from({ length: pick(next, [0, 50, 199, 200, 201, 220]) }, () => call(next)))
      case 7:
      case 8:
      case 9:
        return array(Array.from({ length: 1 + next(6) }, () => (next(10) === 0 ? text(pick(next, NEAR)) : call(next))))
      default:
        return call(next)
    }
  }
}
