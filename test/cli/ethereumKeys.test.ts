import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { encryptKeystoreJsonSync, Wallet } from 'ethers'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toBase64, toHex } from '../../src/base/bytes.ts'
import { createKeystore } from '../../src/keys/keystore.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { ethWallet, privateKey } from '../support/wallet.ts'
import { type Ended, makePlace, svcd, typed } from './support.ts'

const ETHEREUM_0 = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const place = makePlace([1, 2, 3])
afterAll(place.remove)

const write = (name: string, text: string): string => {
  const path = join(place.folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
const secret = (text: string): string => write('secret.txt', text)
const keys = (line: string): Promise<Ended> =>
  svcd({ ...place, env: { ...place.env, SVCD_PASSWORD_FILE: join(place.folder, 'password.txt') } }, `keys ${line}`)
const done = async (line: string): Promise<Record<string, unknown>> => {
  const ended = await keys(`${line} --json`)
  expect([line, ended]).toMatchObject([line, { status: 0 }])
  return JSON.parse(ended.stdout) as Record<string, unknown>
}
const refused = async (status: number, why: string, line: string): Promise<void> =>
  expect([line, await keys(line)]).toMatchObject([line, { status, stdout: '', stderr: expect.stringContaining(why) }])

beforeAll(() => {
  write('password.txt', 'correct horse\n')
})

test("a mnemonic, a private key and an Ethereum wallet's file are imported, and their keys are secp256k1", async () => {
  const first = await done(`import first --ethereum --mnemonic --secret-file ${secret(PUBLIC_MNEMONIC)}`)
  expect(first).toMatchObject({ address: ETHEREUM_0 })
  const hex = `0x${toHex(privateKey(1))}`
  await done(`import second --ethereum --private-key --secret-file ${secret(hex)}`)
  expect(await done('show second')).toMatchObject({ address: ethWallet(1).address, curve: 'secp256k1' })
  expect(await done('export second --unsafe')).toMatchObject({ privateKey: hex })
  const file = write(
    'wallet.json',
    encryptKeystoreJsonSync(new Wallet(`0x${toHex(privateKey(2))}`), 'correct horse', {
      scrypt: { N: 1024, r: 8, p: 1 },
    }),
  )
  expect(await done(`import third --file ${file}`)).toMatchObject({ address: ethWallet(2).address })
  // Its encryption was weak.
  expect(await done('show third')).toMatchObject({ curve: 'secp256k1', n: 262_144 })
  expect(await done('export third --unsafe')).toMatchObject({ privateKey: `0x${toHex(privateKey(2))}` })
})

test('a file without an address, as Foundry writes it, is imported, and gets one', async () => {
  const wallet = new Wallet(`0x${toHex(privateKey(3))}`)
  const { address: _, ...json } = JSON.parse(encryptKeystoreJsonSync(wallet, 'correct horse')) as { address: string }
  const { address } = ethWallet(3)
  expect(await done(`import fourth --file ${write('foundry.json', JSON.stringify(json))}`)).toMatchObject({ address })
  expect(await done('show fourth')).toMatchObject({ address, curve: 'secp256k1' })
})

test('what the chain would refuse for a field is refused before an Ethereum key signs it, and the field is named', async () => {
  const gateway = await serveCalls(({ method }) => ({ result: method === 'svc_status' ? { chain_id: 'a' } : 0 }))
  const name = 'n'.repeat(129)
  const flags = `--pub-key ${toBase64(new Uint8Array(32).fill(1))} --max-amount 10 --comp-rate 0.1 --description-name ${name}`
  const where = `--gateway ${gateway.url} --password-file ${join(place.folder, 'password.txt')}`
  expect(await svcd(place, `tx stake declare --from first ${flags} ${where}`)).toMatchObject({
    status: 1,
    stderr: 'svcd: the chain would refuse this transaction: description.name: expected at most 128 bytes, got 129\n',
  })
  await gateway.close()
})

test('what is no private key of the curve, and an ed25519 file, are refused', async () => {
  const none = secret('f'.repeat(64))
  await refused(1, 'the number is none of secp256k1', `import x --ethereum --private-key --secret-file ${none}`)
  const file = write('ed.json', JSON.stringify(createKeystore(new Uint8Array(32).fill(1), 'correct horse')))
  await refused(1, 'import it without --ethereum', `import x --ethereum --file ${file}`)
})

test('a file of geth opens, whose password was not normalized; nothing is left behind where no file can be written', async () => {
  const password = write('typed.txt', 'correct² horse\n')
  const wallet = new Wallet(`0x${toHex(privateKey(5))}`)
  const text = encryptKeystoreJsonSync(wallet, new TextEncoder().encode('correct² horse'), {
    scrypt: { N: 1024, r: 8, p: 1 },
  })
  const file = write('geth.json', text)
  const imported = await done(`import geth --file ${file} --password-file ${password}`)
  expect(imported).toMatchObject({ address: ethWallet(5).address })
  const full = await typed(place, `ulimit -f 0; svcd keys new full --password-file password.txt; ls -A keys | grep new`)
  expect(full).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^svcd: cannot write .*full\.json: EFBIG/),
  })
})

test('words on two lines are no mnemonic, although the first twelve of them may be one', async () => {
  // 24 words, of which the first twelve have a checksum of their own.
  const first = 'race little junior humor victory april regular pair diary rare play intact'
  const last = 'envelope list decline best increase story join gown box clay fame tool'
  await refused(2, 'on one line', `import half --mnemonic --secret-file ${secret(`${first}\n${last}\n`)}`)
  await done(`import half --mnemonic --secret-file ${secret(`${first} ${last}\n\n`)}`)
})

test('an account of several keys: made of names, addresses and public keys, shown, listed and deleted', async () => {
  await done('new alice')
  const { public_key: alice } = (await done('show alice')) as { public_key: string }
  const other = `0x${'12'.repeat(20)}`
  const team = await done(`multisig team --threshold 2 alice first ${other}`)
  // The same members in another order, and by what the others know of them, are the same account.
  const taken = `already has the key of ${team['address']}, named team`
  await refused(1, taken, `multisig again --threshold 2 ${ETHEREUM_0} ${other} ${alice}`)
  expect(await done('show team')).toMatchObject({
    threshold: 2,
    members: expect.arrayContaining([
      { name: 'alice', address: expect.any(String), member: alice },
      { name: 'first', address: ETHEREUM_0, member: ETHEREUM_0 },
      { address: other, member: other },
    ]),
  })
  expect((await keys('list')).stdout).toMatch(/^team +0x[0-9a-f]{40} +2 of 3 keys$/m)
  for (const command of ['export', 'passwd']) await refused(1, 'is an account of several keys', `${command} team`)
  await refused(1, 'is given twice', `multisig x --threshold 1 alice ${alice}`)
  await refused(1, 'is no member of another', 'multisig x --threshold 1 alice team')
  await refused(2, 'threshold: expected 1 to the 2 members, got 3', 'multisig x --threshold 3 alice first')
  await refused(2, 'members: expected 2 to 16, got 1', 'multisig x --threshold 1 alice')
  await done('delete team --yes')
  expect(existsSync(join(place.folder, 'keys', 'team.json'))).toBe(false)
})

test('an older key file does not tell its public key; passwd writes it', async () => {
  const path = join(place.folder, 'keys', 'alice.json')
  const { public_key: key, ...older } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, JSON.stringify(older))
  await refused(1, 'run svcd keys passwd alice', 'multisig team --threshold 1 alice first')
  await done(`passwd alice --new-password-file ${join(place.folder, 'password.txt')}`)
  expect(await done('show alice')).toMatchObject({ public_key: key })
  await done('multisig team --threshold 1 alice first')
})
