import { existsSync, linkSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, parseAddress } from '../values/address.ts'
import { ensureFolder } from '../base/folder.ts'
import { parseJson } from '../base/json.ts'
import { writeInOneStep } from '../base/writeWhole.ts'
import { type ForeignKeystore, type Keystore, KEYSTORE_LENGTH_MAX, KeystoreError, readKeystore } from './keystore.ts'
import { isMultisigFile, type MultisigAccount, printMultisig, readMultisig } from './multisig.ts'

/** A file in a folder of keys. Its name is the file's name without `.json`. */
interface NamedFile {
  readonly name: string
  readonly path: string
}

/** A keystore file. */
export interface KeyFile extends NamedFile {
  readonly keystore: Keystore
}

/** The file of an account of several keys. */
export interface MultisigFile extends NamedFile {
  readonly account: MultisigAccount
}

/** A file in a folder that cannot be used, and the reason. */
interface BadKeyFile extends NamedFile {
  readonly problem: string
}

/** The address of the account of a file. */
export const addressOfFile = (file: KeyFile | MultisigFile): Address =>
  'keystore' in file ? file.keystore.address : file.account.address

const SUFFIX = '.json'
const OWNER_ONLY = 0o600

/** Says why a file may not hold a secret: others than its owner can read or write it. Undefined when they cannot. */
export function whyOpen(path: string, { mode }: { readonly mode: number }): string | undefined {
  const access = mode & 0o777
  // Windows has no such modes: every file reads as 0666 there.
  if (process.platform === 'win32' || (access & 0o077) === 0) return undefined
  return `${path}: mode ${access.toString(8).padStart(4, '0')} lets others read or write it; run chmod 600 ${path}`
}

/** Throws a KeystoreError unless `name` may be a key's: it becomes a file's name, and must not read as an address. */
function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !/^0x/i.test(name)) return
  const expected = '1 to 64 letters, digits, dots, hyphens and underscores'
  throw new KeystoreError('file', `name: expected ${expected}, got ${JSON.stringify(name.slice(0, 80))}`)
}

/** Throws a KeystoreError unless a new key of the folder may have `name`. */
export function checkFree(folder: string, name: string): void {
  checkName(name)
  if (existsSync(join(folder, `${name}${SUFFIX}`)))
    throw new KeystoreError('file', `${folder} already has a key named ${name}`)
}

/** The text of a file of keys. Throws a KeystoreError when it is missing, too long, or others can read or write it. */
function readText(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) throw new KeystoreError('file', `${path}: there is no such file`)
  const open = whyOpen(path, found)
  if (open !== undefined) throw new KeystoreError('file', open)
  if (found.size > KEYSTORE_LENGTH_MAX)
    throw new KeystoreError(
      'malformed',
      `${path}: expected a keystore of at most ${KEYSTORE_LENGTH_MAX} bytes, got ${found.size}`,
    )
  return readFileSync(path, 'utf8')
}

function naming<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof KeystoreError) throw new KeystoreError(error.problem, `${path}: ${error.message}`)
    throw error
  }
}

/**
 * Reads a keystore file to be imported. Throws a KeystoreError that names it: `file` when it is missing or others than its owner can
 * read or write it, else what readKeystore throws.
 */
export function readKeyFile(path: string): ForeignKeystore {
  const text = readText(path)
  return naming(path, () => readKeystore(text, true))
}

function readFile(folder: string, name: string): KeyFile | MultisigFile {
  const path = join(folder, `${name}${SUFFIX}`)
  const text = readText(path)
  const json = parseJson(text)
  return naming(path, () =>
    isMultisigFile(json) ? { name, path, account: readMultisig(json) } : { name, path, keystore: readKeystore(text) },
  )
}

/** Lists the files of a folder by name; none when there is no such folder. Never throws for a bad file. */
export function listKeyFiles(folder: string): readonly (KeyFile | MultisigFile | BadKeyFile)[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.'))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort()
    .map((name) => {
      try {
        return readFile(folder, name)
      } catch (error) {
        return { name, path: join(folder, `${name}${SUFFIX}`), problem: (error as Error).message }
      }
    })
}

/** Lists the accounts whose files can be read. */
const listAccounts = (folder: string): readonly (KeyFile | MultisigFile)[] =>
  listKeyFiles(folder).filter((one): one is KeyFile | MultisigFile => !('problem' in one))

/** The names of the accounts in a folder, by address. */
export const namesByAddress = (folder: string): ReadonlyMap<string, string> =>
  new Map(listAccounts(folder).map((one) => [addressOfFile(one), one.name]))

/** Finds the file of an address. */
export const findAccountOf = (folder: string, address: Address): KeyFile | MultisigFile | undefined =>
  listAccounts(folder).find((one) => addressOfFile(one) === address)

/** Finds a key or an account of several by name or address. Throws a KeystoreError: `file` when there is none, else that of its file. */
export function findAccount(folder: string, nameOrAddress: string): KeyFile | MultisigFile {
  const address = parseAddress(nameOrAddress)
  if (address !== undefined) {
    const found = findAccountOf(folder, address)
    if (found !== undefined) return found
    throw new KeystoreError('file', `${folder} has no key of the address ${address}`)
  }
  checkName(nameOrAddress)
  if (!existsSync(join(folder, `${nameOrAddress}${SUFFIX}`)))
    throw new KeystoreError('file', `${folder} has no key named ${nameOrAddress}`)
  return readFile(folder, nameOrAddress)
}

/** Finds a key by its name or address. Throws as `findAccount` does, and for an account of several keys. */
export function findKey(folder: string, nameOrAddress: string): KeyFile {
  const found = findAccount(folder, nameOrAddress)
  if ('keystore' in found) return found
  throw new KeystoreError('file', `${found.name} is an account of several keys: expected the key of one of its members`)
}

function writeFile(path: string, content: object, put?: typeof linkSync): void {
  try {
    writeInOneStep(path, `${JSON.stringify(content, undefined, 2)}\n`, OWNER_ONLY, put)
  } catch (error) {
    throw new KeystoreError('file', `cannot write ${path}: ${(error as Error).message}`)
  }
}

function addFile(folder: string, name: string, address: Address, content: object): string {
  checkFree(folder, name)
  ensureFolder(folder, 0o700)
  const path = join(folder, `${name}${SUFFIX}`)
  const twin = findAccountOf(folder, address)
  if (twin !== undefined)
    throw new KeystoreError('file', `${folder} already has the key of ${address}, named ${twin.name}`)
  try {
    // Unlike a rename, a link fails when another process took the name meanwhile.
    writeFile(path, content, linkSync)
  } catch (error) {
    checkFree(folder, name)
    throw error
  }
  return path
}

/**
 * Writes the file of a new key atomically, with mode 0600, and creates its folder with mode 0700. Returns the file's
 * path. Throws a KeystoreError `file` when the name is taken, or when the folder has the key under another name.
 */
export const addKeyFile = (folder: string, name: string, keystore: Keystore): string =>
  addFile(folder, name, keystore.address, keystore)

/** Writes the file of a new account of several keys, as `addKeyFile` does. */
export const addMultisigFile = (folder: string, name: string, account: MultisigAccount): string =>
  addFile(folder, name, account.address, printMultisig(account))

/** Replaces the file of a key atomically, as for a new password. Throws a KeystoreError `file` for another key. */
export function replaceKeyFile({ path, keystore: old }: KeyFile, keystore: Keystore): void {
  if (old.address !== keystore.address)
    throw new KeystoreError('file', `${path}: expected the key of ${old.address}, got that of ${keystore.address}`)
  writeFile(path, keystore)
}

/** Removes the file of a key. The key is lost unless there is a copy. */
export const removeKeyFile = ({ path }: KeyFile | MultisigFile): void => rmSync(path)
