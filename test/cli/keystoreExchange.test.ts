import { afterAll, expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Svc } from '../../src/client/index.ts'
import { readKeyFile } from '../../src/keys/files.ts'
import { createKeystore, openKeystore } from '../../src/keys/keystore.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { endedWith, makePlace, svcd } from './support.ts'

const place = makePlace([1, 2, 3])
const passwordFile = join(place.folder, 'password.txt')
writeFileSync(passwordFile, 'correct horse', { mode: 0o600 })
afterAll(place.remove)

const svc = (): Svc => new Svc('http://127.0.0.1:1')

test('a key file that svcd keys new wrote opens in the client, and with the right password only', async () => {
  const made = await svcd(place, `keys new alice --password-file ${passwordFile} --json`)
  const { address, path } = JSON.parse(made.stdout) as { address: string; path: string }
  const text = readFileSync(path, 'utf8')
  const client = svc()
  expect([await client.accounts.addKeystore(text, 'correct horse'), client.accounts.list()]).toEqual([
    address,
    [address],
  ])
  await expect(svc().accounts.addKeystore(text, 'wrong')).rejects.toThrow(/password/)
})

test("a keystore that the client made is imported by svcd keys import, and its key is the client's", async () => {
  const file = join(place.folder, 'from-client.json')
  writeFileSync(file, await svc().accounts.createKeystore(PUBLIC_MNEMONIC, 'correct horse', 3), { mode: 0o600 })
  const imported = await svcd(place, `keys import bob --file ${file} --password-file ${passwordFile} --json`)
  expect([imported.status, imported.stderr]).toEqual([0, ''])
  expect((JSON.parse(imported.stdout) as { address: string }).address).toBe(svc().accounts.add(PUBLIC_MNEMONIC, 3))
  const unsealed = await svcd(place, `keys export bob --unsafe --password-file ${passwordFile} --json`)
  expect(svc().accounts.add(/[0-9a-f]{64}/.exec(unsealed.stdout)?.[0] ?? '')).toBe(
    svc().accounts.add(PUBLIC_MNEMONIC, 3),
  )
})

test('the password of a new key has 8 characters or more, unless a flag allows fewer', async () => {
  const short = join(place.folder, 'short.txt')
  writeFileSync(short, 'tomoro1\n', { mode: 0o600 })
  const refused = {
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^svcd: the (new )?password of \w+: expected at least 8 characters\n$/),
  }
  expect(await svcd(place, `keys new carol --password-file ${short}`)).toMatchObject(refused)
  expect(await svcd(place, ['keys', 'new', 'carol'], '\u{1f40e}\u{1f40e}\u{1f40e}\u{1f40e}\n')).toMatchObject(refused)
  const allowed = `keys new carol --password-file ${short} --allow-short-password`
  expect(await svcd(place, allowed)).toMatchObject({ status: 0 })
  const change = `keys passwd carol --password-file ${short} --new-password-file ${short}`
  expect(await svcd(place, change)).toMatchObject(refused)
  await expect(svc().accounts.createKeystore(PUBLIC_MNEMONIC, 'tomoro1')).rejects.toThrow('at least 8 characters')
})

test('a key file of a weak pbkdf2 is sealed anew when it is imported, under its password', async () => {
  const seed = new Uint8Array(32).fill(22)
  const file = join(place.folder, 'weak.json')
  const weak = createKeystore(seed, 'correct horse', { kdf: 'pbkdf2', c: 1000 })
  writeFileSync(file, JSON.stringify(weak), { mode: 0o600 })
  const imported = await svcd(place, `keys import weak --file ${file} --password-file ${passwordFile} --json`)
  expect(imported).toMatchObject(endedWith(0, 'weak was encrypted again with the same password'))
  const kept = readKeyFile((JSON.parse(imported.stdout) as { path: string }).path)
  expect(kept.crypto).toMatchObject({ kdf: 'scrypt', kdfparams: { n: 262_144, r: 8, p: 1 } })
  expect(openKeystore(kept, 'correct horse')).toEqual(seed)
})
