import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Address, parseAddress } from '../values/address.ts'
import { ensureFolder } from '../base/folder.ts'
import { type Keystore, KeystoreError, readKeystore } from './keystore.ts'

/** A keystore file in a folder. Its name is the file's name without `.json`. */
export interface KeyFile {
  readonly name: string
  readonly path: string
  readonly keystore: Keystore
}

/** A file in a folder that cannot be used, and the reason. */
export type BadKeyFile = Omit<KeyFile, 'keystore'> & { readonly problem: string }

const SUFFIX = '.json'
const FILE_BYTES_MAX = 65_536
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

/**
 * Reads a keystore file. Throws a KeystoreError that names it: `file` when it is missing or others than its owner can
 * read or write it, else what readKeystore throws.
 */
export function readKeyFile(path: string): Keystore {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) throw new KeystoreError('file', `${path}: there is no such file`)
  const open = whyOpen(path, found)
  if (open !== undefined) throw new KeystoreError('file', open)
  if (found.size > FILE_BYTES_MAX)
    throw new KeystoreError(
      'malformed',
      `${path}: expected a keystore of at most ${FILE_BYTES_MAX} bytes, got ${found.size}`,
    )
  try {
    return readKeystore(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof KeystoreError) throw new KeystoreError(error.problem, `${path}: ${error.message}`)
    throw error
  }
}

/** Lists the keystore files of a folder by name; none when there is no such folder. Never throws for a bad file. */
export function listKeyFiles(folder: string): readonly (KeyFile | BadKeyFile)[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.'))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort()
    .map((name) => {
      const path = join(folder, `${name}${SUFFIX}`)
      try {
        return { name, path, keystore: readKeyFile(path) }
      } catch (error) {
        return { name, path, problem: (error as Error).message }
      }
    })
}

/** Finds the key of an address. */
export const findKeyOf = (folder: string, address: Address): KeyFile | undefined =>
  listKeyFiles(folder).find((one): one is KeyFile => 'keystore' in one && one.keystore.address === address)

/** Finds a key by its name or address. Throws a KeystoreError: `file` when there is none, else that of its file. */
export function findKey(folder: string, nameOrAddress: string): KeyFile {
  const address = parseAddress(nameOrAddress)
  if (address !== undefined) {
    const found = findKeyOf(folder, address)
    if (found !== undefined) return found
    throw new KeystoreError('file', `${folder} has no key of the address ${address}`)
  }
  checkName(nameOrAddress)
  const path = join(folder, `${nameOrAddress}${SUFFIX}`)
  if (!existsSync(path)) throw new KeystoreError('file', `${folder} has no key named ${nameOrAddress}`)
  return { name: nameOrAddress, path, keystore: readKeyFile(path) }
}

/** Writes and flushes a temporary file beside `path`. Returns its path; the caller moves it into place. */
function writeBeside(path: string, keystore: Keystore): string {
  const beside = join(dirname(path), `.${randomUUID()}.new`)
  writeFileSync(beside, `${JSON.stringify(keystore, undefined, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx', flush: true })
  // The umask can only have taken away more.
  chmodSync(beside, OWNER_ONLY)
  return beside
}

/**
 * Writes the file of a new key atomically, with mode 0600, and creates its folder with mode 0700. Returns the file's
 * path. Throws a KeystoreError `file` when the name is taken, or when the folder has the key under another name.
 */
export function addKeyFile(folder: string, name: string, keystore: Keystore): string {
  checkFree(folder, name)
  ensureFolder(folder, 0o700)
  const path = join(folder, `${name}${SUFFIX}`)
  const twin = findKeyOf(folder, keystore.address)
  if (twin !== undefined)
    throw new KeystoreError('file', `${folder} already has the key of ${keystore.address}, named ${twin.name}`)
  const beside = writeBeside(path, keystore)
  try {
    // Unlike a rename, a link fails when another process took the name meanwhile.
    linkSync(beside, path)
  } finally {
    rmSync(beside, { force: true })
  }
  return path
}

/** Replaces the file of a key atomically, as for a new password. Throws a KeystoreError `file` for another key. */
export function replaceKeyFile({ path, keystore: old }: KeyFile, keystore: Keystore): void {
  if (old.address !== keystore.address)
    throw new KeystoreError('file', `${path}: expected the key of ${old.address}, got that of ${keystore.address}`)
  renameSync(writeBeside(path, keystore), path)
}

/** Removes the file of a key. The key is lost unless there is a copy. */
export const removeKeyFile = ({ path }: KeyFile): void => rmSync(path)
