import { describe, expect, test } from '@jest/globals'
import { operations, queries } from '../../src/client/gen/calls.ts'
import { Svc } from '../../src/client/index.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { checkFields, type Fields, readFields } from '../../src/tx/fields.ts'
import { tableOf } from '../conformance/interfaceTables.ts'

const svc = new Svc('http://127.0.0.1:1')
const at = (root: object, path: string): unknown =>
  path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], root)

describe('the functions of the client', () => {
  test('every method of the gateway has one, in both forms', () => {
    const calls = [...operations, ...queries]
    const own = methods.filter(({ isForeign, needsSocket }) => isForeign !== true && needsSocket !== true)
    expect(calls.map(({ method }) => method).sort()).toEqual(own.map(({ name }) => name).sort())
    for (const { call } of calls)
      expect([typeof at(svc, call), typeof at(svc.async, call)]).toEqual(['function', 'function'])
  })

  test('every function of the interface stands where it says, with its method', () => {
    const byCall = new Map([...operations, ...queries].map(({ call, method }) => [call, method]))
    for (const module of ['stake.validator', 'governance']) {
      for (const { cells } of tableOf(`web3.svc.${module}`)) {
        expect(byCall.get(`${module}.${/^\w+/.exec(cells['Function'] as string)?.[0]}`)).toBe(cells['JSON RPC method'])
      }
    }
  })
})

/** What reading comes to: the message, or the words of the refusal. */
const read = (members: Fields, input: unknown): unknown => {
  try {
    return readFields(members, input)
  } catch (error) {
    return (error as Error).message
  }
}

/** Why the chain would refuse one member that can be read. */
function judge(members: Fields, name: string, probe: unknown): unknown {
  const fields = { [name]: members[name] as never }
  const message = read(fields, { [name]: probe })
  return typeof message === 'string' ? undefined : checkFields(fields, message as never)
}

describe('members', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  const probes: readonly unknown[] = [
    undefined,
    null,
    true,
    0,
    7,
    -1,
    1.5,
    2 ** 53,
    '',
    'Y',
    'text',
    '0x10',
    '12',
    '1e3',
    '0.5',
    '\ud800',
    key,
    `${key}=`,
    `0x${'Ab'.repeat(20)}`,
    `0x${'1'.repeat(39)}`,
    {},
    [],
    { name: 'n' },
    ...['name', 'website', 'location', 'email', 'profile'].flatMap((member) =>
      [128, 129, 256, 257, 2_049].map((length) => ({ [member]: 'n'.repeat(length) })),
    ),
    ...[2_048, 2_049, 4_096, 4_097, 9_216, 9_217].map((length) => 'n'.repeat(length)),
    '9'.repeat(40),
    { name: 5 },
    { unknown: 1 },
  ]
  test.each(txEntries.map((entry) => [entry.operation, entry] as const))(
    '%s: are read and judged, and refused in the same words, as by the gateway and the chain',
    (operation, { input }) => {
      const mine = operations.find((spec) => spec.operation === operation)?.fields ?? {}
      for (const name of Object.keys(input)) {
        // One member after another takes each value; the others keep one that is good.
        const good = Object.fromEntries(
          Object.keys(input).map((other) => [
            other,
            probes.find(
              (probe) =>
                typeof read({ [other]: input[other] as never }, { [other]: probe }) !== 'string' &&
                probe !== undefined &&
                probe !== null,
            ),
          ]),
        )
        for (const probe of probes) {
          const given = { ...good, [name]: probe }
          expect([name, probe, read(mine, given)]).toEqual([name, probe, read(input, given)])
          expect([name, probe, judge(mine, name, probe)]).toEqual([name, probe, judge(input, name, probe)])
        }
      }
      expect(read(mine, { surplus: 1 })).toEqual(read(input, { surplus: 1 }))
    },
  )
})
