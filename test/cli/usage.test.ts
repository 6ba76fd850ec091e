import { afterAll, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listCommands } from '../../tools/reference/commands.ts'
import { printDraft } from '../../src/tx/draft.ts'
import { encodeBody } from '../../src/tx/envelope.ts'
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
  [
    'a transaction that is written and not sent, with flags about sending it',
    ['tx', 'transfer', '--unsigned', '-', '--typed-data', '--dry-run', '--no-wait'],
    /^svcd: --unsigned cannot be combined with --typed-data, --dry-run or --no-wait\n$/,
  ],
  [
    'a transaction of which the typed data is printed, and not checked',
    ['tx', 'transfer', '--typed-data', '--dry-run'],
    /^svcd: --typed-data cannot be combined with --dry-run\n$/,
  ],
  [
    'a key file that is imported, with flags about a secret',
    ['keys', 'import', 'x', '--file', 'k.json', '--secret-file', 's', '--index', '5'],
    /^svcd: --file cannot be combined with --index or --secret-file\n$/,
  ],
  [
    'a private key with the number of an account',
    ['keys', 'import', 'x', '--private-key', '--index', '0'],
    /^svcd: --private-key cannot be combined with --index\n$/,
  ],
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
  ['is away before it has answered', 0, undefined],
  ['is away while it waits for the block', 1, undefined],
  ['fails inside', 0, { error: { code: -32603, message: 'Internal error' } }],
])('a gateway that %s: the transaction that may be in a block is named', async (name, answered, failure) => {
  let sends = 0
  const results: Readonly<Record<string, unknown>> = {
    svc_status: { chain_id: 'test' },
    svc_getTransactionCount: 0,
    svc_sendRawTransaction: { height: 0, hash: '', check_tx: {}, deliver_tx: {} },
  }
  const { url, close } = await serveCalls(({ method }, { socket }) => {
    if (method !== 'svc_sendRawTransaction' || sends++ < answered) return { result: results[method] }
    if (failure === undefined) socket.destroy()
    return failure
  })
  const password = join(place.folder, 'password.txt')
  writeFileSync(password, 'correct horse\n', { mode: 0o600 })
  const key = name.replaceAll(' ', '-')
  await svcd(place, ['keys', 'new', key, '--password-file', password])
  const tx = ['tx', 'transfer', '--from', key, '--to', DEVNET_0, '--value', '1', '--gateway', url, '--json']
  const { status, stdout, stderr } = await svcd(place, [...tx, '--password-file', password])
  await close()
  expect([status, sends]).toEqual([1, answered + 1])
  const { hash } = JSON.parse(stdout) as { hash?: string }
  expect(hash).toMatch(/^[0-9A-F]{64}$/)
  expect(stderr).toContain(`svcd query transaction ${hash}`)
})

test('tx sign shows all that is signed, without the styles of a terminal', async () => {
  const password = join(place.folder, 'password.txt')
  writeFileSync(password, 'correct horse\n', { mode: 0o600 })
  await svcd(place, ['keys', 'new', 'signer', '--password-file', password])
  const { address } = JSON.parse((await svcd(place, ['keys', 'show', 'signer', '--json'])).stdout) as {
    address: string
  }
  const from = new Uint8Array(Buffer.from(address.slice(2), 'hex'))
  const body = { chainId: 'test', from, nonce: 0, operation: 'updateCandidacy', message: { description: {} } } as const
  const draft = join(place.folder, 'draft.json')
  writeFileSync(draft, printDraft({ bodyBytes: encodeBody(body), body, multisig: undefined, parts: [] }))
  const coloured = { ...place, env: { ...place.env, FORCE_COLOR: '1', NO_COLOR: undefined } }
  const sign = ['tx', 'sign', draft, '--from', 'signer', '--yes', '--password-file', password]
  const { status, stderr } = await svcd(coloured, sign)
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^description +given, without members$/m)])
  expect(stderr).not.toContain('u001b')
})
