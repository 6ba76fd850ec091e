import { afterAll, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listCommands } from '../../tools/reference/commands.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { endedWith, makePlace, svcd, typed } from './support.ts'

const DEVNET_0 = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'
const place = makePlace([1, 2, 3])
afterAll(place.remove)

test.each([
  [
    'all members missing and no sender',
    ['tx', 'transfer'],
    /^svcd: the options --from \(.*\), --to \(.*\) and --value \(.*such as 1\.5token\) are required\n$/,
  ],
  ['a member missing', ['tx', 'transfer', '--from', DEVNET_0, '--value', '1'], /^svcd: the option --to \(.*\) is /],
  ['an argument missing', ['query', 'balance'], /^svcd: the option --address \(address, .*\) is required\n$/],
  [
    'a fraction without a unit',
    ['tx', 'transfer', '--from', DEVNET_0, '--to', DEVNET_0, '--value', '1.5'],
    /^svcd: --value: 1\.5 has no unit\. Write 1\.5token, or 1500000000000000000 for the same in base units\n$/,
  ],
  [
    'a member that no message can hold',
    ['tx', 'transfer', '--from', DEVNET_0, '--to', '0x12', '--value', '1'],
    /^svcd: --to: expected an address .*got "0x12"/,
  ],
  ['no sender', ['tx', 'transfer', '--to', DEVNET_0, '--value', '1'], /^svcd: the option --from \(.*\) is required/],
  // What is suggested stands alone, without the whole help behind it.
  [
    'an option that is none',
    ['tx', 'transfer', '--valeu', '1'],
    /^svcd: unknown option '--valeu'\n\(Did you mean --value\?\)\nAdd --help .*\n$/,
  ],
  ['an operation that is none', ['tx', 'stake', 'mint'], /^svcd: unknown command 'mint'\nAdd --help .*\n$/],
  ['a command that is none', ['qury'], /^svcd: unknown command 'qury'\n\(Did you mean query\?\)\nAdd --help .*\n$/],
])('%s is wrong usage: status 2', async (_name, args, words) => {
  expect(await svcd(place, args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(words) })
})

test('an environment variable has one meaning: all its options take the same kind of value', async () => {
  const kinds = new Map<string, Set<string>>()
  for (const { flags, envVar } of (await listCommands()).flatMap(({ command }) => command.options)) {
    if (envVar !== undefined) kinds.set(envVar, (kinds.get(envVar) ?? new Set()).add(/<.*>/.exec(flags)?.[0] ?? ''))
  }
  expect(kinds.size).toBeGreaterThan(15)
  expect([...kinds].filter(([, { size }]) => size > 1)).toEqual([])
})

test('an answer that a full disk does not take is a failure, and a reader that has gone is none', async () => {
  expect(await typed(place, 'svcd query --help > /dev/full')).toMatchObject(
    endedWith(1, 'could not be written whole: ENOSPC'),
  )
  const gone = `printf 'correct horse\\n' > pw; chmod 600 pw; svcd keys new gone --password-file pw > /dev/null
    (svcd keys export gone 2>&1 > /dev/null; echo "status $?" > status) | true; sleep 1; cat status`
  expect(await typed(place, gone)).toMatchObject({ stdout: 'status 0\n' })
})

test.each([
  ['is away before it has answered', 0],
  ['is away while it waits for the block', 1],
])('a gateway that %s: the transaction that may be in a block is named', async (_name, answered) => {
  let sends = 0
  const results: Readonly<Record<string, unknown>> = {
    svc_status: { chain_id: 'test' },
    svc_getTransactionCount: 0,
    svc_sendRawTransaction: { height: 0, hash: '', check_tx: {}, deliver_tx: {} },
  }
  const { url, close } = await serveCalls(({ method }, { socket }) => {
    if (method !== 'svc_sendRawTransaction' || sends++ < answered) return { result: results[method] }
    socket.destroy()
    return undefined
  })
  const password = join(place.folder, 'password.txt')
  writeFileSync(password, 'correct horse\n', { mode: 0o600 })
  const name = `sender${answered}`
  await svcd(place, ['keys', 'new', name, '--password-file', password])
  const tx = ['tx', 'transfer', '--from', name, '--to', DEVNET_0, '--value', '1', '--gateway', url, '--json']
  const { status, stdout, stderr } = await svcd(place, [...tx, '--password-file', password])
  await close()
  expect([status, sends]).toEqual([1, answered + 1])
  const { hash } = JSON.parse(stdout) as { hash?: string }
  expect(hash).toMatch(/^[0-9A-F]{64}$/)
  expect(stderr).toContain(`svcd query transaction ${hash}`)
})
