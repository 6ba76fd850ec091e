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
import { parseAddress } from '../base/address.ts'
import { makeFolder } from '../base/folder.ts'
import { isKeystoreError, KeystoreError } from './errors.ts'
import { type Keystore, readKeystore } from './keystore.ts'

/** A keystore file of a folder. Its name is the file's, without `.json`. */
export interface KeyFile {
  readonly name: string
  readonly path: string
  readonly keystore: Keystore
}

/** A file of a folder that cannot be used, and why. */
export interface BadKeyFile {
  readonly name: string
  readonly path: string
  readonly problem: string
}

const SUFFIX = '.json'
const FILE_BYTES_MAX = 65_536
const OWNER_ONLY = 0o600

/** Why a file is no place for a secret: others than its owner may read or write it. Undefined when nobody else may. */
export function whyOpen(path: string, { mode }: { readonly mode: number }): string | undefined {
  const access = mode & 0o777
  // Windows has no such modes: every file reads as 0666 there.
  if (process.platform === 'win32' || (access & 0o077) === 0) return undefined
  return `${path}: mode ${access.toString(8).padStart(4, '0')} opens it to others: chmod 600 ${path}`
}

/** Throws a KeystoreError unless `name` may be a key's: it becomes a file's name, and must not read as an address. */
function checkName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || /^0x/i.test(name)) {
    const shown = JSON.stringify(name.slice(0, 80))
    throw new KeystoreError(
      'file',
      `a key's name has 1 to 64 letters, digits, dots, dashes and underscores, got ${shown}`,
    )
  }
}

/** Throws a KeystoreError unless a new key of the folder may have `name`. */
export function checkFree(folder: string, name: string): void {
  checkName(name)
  if (existsSync(join(folder, `${name}${SUFFIX}`)))
    throw new KeystoreError('file', `the name ${name} is taken in ${folder}`)
}

/**
 * Reads one keystore file. Throws a KeystoreError that names it: `file` when it is absent or when others than its owner
 * may read or write it, else what readKeystore throws.
 */
export function readKeyFile(path: string): Keystore {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) throw new KeystoreError('file', `${path}: no such keystore file`)
  const open = whyOpen(path, found)
  if (open !== undefined) throw new KeystoreError('file', open)
  if (found.size > FILE_BYTES_MAX)
    throw new KeystoreError('malformed', `${path}: not a keystore: it has ${found.size} bytes`)
  try {
    return readKeystore(readFileSync(path, 'utf8'))
  } catch (error) {
    if (isKeystoreError(error)) throw new KeystoreError(error.problem, `${path}: ${error.message}`)
    throw error
  }
}

/**
 * The keystore files of a folder, in the order of their names; none when there is no such folder. Never throws for a
 * bad file.
 */
export function listKeyFiles(folder: string): readonly (KeyFile | BadKeyFile)[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.'))
  return files
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

/**
 * The key of a name or address. Throws a KeystoreError: `file` when there is none, else what is wrong with its file.
 */
export function findKey(folder: string, nameOrAddress: string): KeyFile {
  const address = parseAddress(nameOrAddress)
  if (address === undefined) {
    checkName(nameOrAddress)
    const path = join(folder, `${nameOrAddress}${SUFFIX}`)
    if (!existsSync(path)) throw new KeystoreError('file', `no key ${nameOrAddress} in ${folder}`)
    return { name: nameOrAddress, path, keystore: readKeyFile(path) }
  }
  for (const one of listKeyFiles(folder)) if ('keystore' in one && one.keystore.address === address) return one
  throw new KeystoreError('file', `no key of ${address} in ${folder}`)
}

/** Writes beside the place and flushes; returns the file's path, which the caller moves into place. */
function writeBeside(path: string, keystore: Keystore): string {
  const beside = join(dirname(path), `.${randomUUID()}.new`)
  writeFileSync(beside, `${JSON.stringify(keystore, undefined, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx', flush: true })
  // The process' umask may have taken more away, and never less.
  chmodSync(beside, OWNER_ONLY)
  return beside
}

/**
 * Writes a new key, whole or not at all, mode 0600, in a folder that is made with mode 0700. Returns the file's path.
 * Throws a KeystoreError `file` when the name is taken or the folder has the account under another name.
 */
export function addKeyFile(folder: string, name: string, keystore: Keystore): string {
  checkFree(folder, name)
  makeFolder(folder, 0o700)
  const path = join(folder, `${name}${SUFFIX}`)
  const twin = listKeyFiles(folder).find((one) => 'keystore' in one && one.keystore.address === keystore.address)
  if (twin !== undefined)
    throw new KeystoreError('file', `${folder} has the key of ${keystore.address} already: ${twin.name}`)
  const beside = writeBeside(path, keystore)
  try {
    // A link, unlike a rename, fails when somebody took the name meanwhile.
    linkSync(beside, path)
  } finally {
    rmSync(beside, { force: true })
  }
  return path
}

/**
 * Writes a key's file anew, as for a new password: a crash leaves the old one or the new one. Throws a KeystoreError
 * `file`.
 */
export function replaceKeyFile({ path, keystore: old }: KeyFile, keystore: Keystore): void {
  if (old.address !== keystore.address)
    throw new KeystoreError('file', `${path}: holds ${old.address}, not ${keystore.address}`)
  renameSync(writeBeside(path, keystore), path)
}

/** Removes a key's file. The key is gone unless it is kept elsewhere. */
export const removeKeyFile = ({ path }: KeyFile): void => rmSync(path)
