import { randomBytes } from 'node:crypto'
import { fromHex, toHex } from '../../base/bytes.ts'
import {
  addKeyFile,
  checkFree,
  findKey,
  type KeyFile,
  listKeyFiles,
  readKeyFile,
  removeKeyFile,
  replaceKeyFile,
} from '../../keys/files.ts'
import { createKeystore, isWeak, openKeystore, SEED_BYTES } from '../../keys/keystore.ts'
import { PASSWORD_LENGTH_MIN } from '../../keys/password.ts'
import { newMnemonic, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { Failed, UserError } from '../../node/errors.ts'
import {
  commonOptions,
  type Configure,
  type FlagsOf,
  keystoreFrom,
  keystoreOption,
  option,
  passwordOption,
  subcommand,
  withOptions,
} from '../options.ts'
import { formatTable, note, printAnswer } from '../output.ts'
import { printable } from '../../base/printable.ts'
import { confirm, readSecret } from '../secrets.ts'
import { parseWhole } from '../../node/settings.ts'

const keyOptions = [...commonOptions, keystoreOption] as const
const secretOptions = [...keyOptions, passwordOption] as const
const newSecretOptions = [
  ...secretOptions,
  option(
    '--allow-short-password',
    `accept a new password of fewer than ${PASSWORD_LENGTH_MIN} characters, which others may guess`,
  ),
] as const
const exportOptions = [
  ...secretOptions,
  option('--unsafe', 'print the private key; whoever sees it owns the account'),
] as const
const importOptions = [
  ...newSecretOptions,
  option('--mnemonic', 'the secret is a BIP-39 mnemonic'),
  option('--index <number>', 'number of the account of the mnemonic', {
    parse: parseWhole([0, 999_999_999]),
    fallback: '0',
  }),
  option('--private-key', 'the secret is an ed25519 seed: 32 bytes in hex'),
  option('--file <file>', 'import this key file, which keeps its password'),
  option('--secret-file <file>', 'file that holds the mnemonic or the private key'),
] as const
const passwdOptions = [
  ...newSecretOptions,
  option(
    '--new-password-file <file>',
    'file that holds the new password (default: a prompt, or the next line of stdin)',
  ),
] as const
const deleteOptions = [...keyOptions, option('--yes', 'do not ask')] as const
const mnemonicOptions = [
  ...commonOptions,
  option('--unsafe', 'print it; whoever sees it owns its accounts'),
  option('--words <count>', 'number of words, 12 or 24', { fallback: '24' }),
] as const

type KeyFlags = FlagsOf<typeof keyOptions>
type SecretFlags = FlagsOf<typeof secretOptions>
type NewSecretFlags = FlagsOf<typeof newSecretOptions>
type ImportFlags = FlagsOf<typeof importOptions>

const passwordOf = (
  name: string,
  { passwordFile: file }: SecretFlags,
  asked: { readonly isNew?: boolean; readonly mayBeShort?: boolean | undefined; readonly more?: boolean } = {},
): Promise<string> => readSecret({ what: `password of ${name}`, file, flag: '--password-file', ...asked })

const shown = ({ name, path, keystore }: KeyFile) => ({ name, address: keystore.address, path })

/** Encrypts a seed with a password, writes the key file and prints the address. */
async function storeSeed(name: string, seed: Uint8Array, flags: NewSecretFlags): Promise<void> {
  const { allowShortPassword: mayBeShort } = flags
  const keystore = createKeystore(seed, await passwordOf(name, flags, { isNew: true, mayBeShort }))
  const path = addKeyFile(keystoreFrom(flags), name, keystore)
  printAnswer(flags.json, shown({ name, path, keystore }))
}

async function newKey(name: string, flags: NewSecretFlags): Promise<void> {
  checkFree(keystoreFrom(flags), name) // Before a secret is asked for.
  await storeSeed(name, randomBytes(SEED_BYTES), flags)
}

function seedOf(secret: string, { privateKey, index }: ImportFlags): Uint8Array {
  if (privateKey === true) {
    const seed = fromHex(secret.trim().replace(/^0x/, ''))
    if (seed?.length !== SEED_BYTES)
      throw new Failed(`the private key: expected ${2 * SEED_BYTES} hex digits, got ${secret.trim().length} characters`)
    return seed
  }
  try {
    return seedOfMnemonic(secret.trim().replace(/\s+/g, ' '), index)
  } catch (error) {
    throw new Failed((error as Error).message)
  }
}

async function importFile(name: string, file: string, flags: ImportFlags): Promise<void> {
  const given = readKeyFile(file)
  // The password is checked now, because later nobody may remember another one.
  const password = await passwordOf(name, flags)
  const seed = openKeystore(given, password)
  const keystore = isWeak(given) ? createKeystore(seed, password) : given
  const path = addKeyFile(keystoreFrom(flags), name, keystore)
  if (keystore !== given) {
    note(
      `the encryption of ${file} is weak, so ${name} was encrypted again with the same password (scrypt, ` +
        `n ${keystore.crypto.kdfparams['n']}). Remove that file`,
    )
  }
  printAnswer(flags.json, shown({ name, path, keystore }))
}

async function importKey(name: string, flags: ImportFlags): Promise<void> {
  checkFree(keystoreFrom(flags), name) // Before a secret is asked for.
  const { mnemonic, privateKey, file, secretFile } = flags
  if ([mnemonic, privateKey, file].filter((one) => one !== undefined).length !== 1) {
    throw new UserError('expected exactly one of --mnemonic, --private-key and --file FILE')
  }
  if (file !== undefined) return importFile(name, file, flags)
  const what = mnemonic === true ? 'mnemonic' : 'private key'
  const secret = await readSecret({ what, file: secretFile, flag: '--secret-file', more: true })
  await storeSeed(name, seedOf(secret, flags), flags)
}

async function listKeys(flags: KeyFlags): Promise<void> {
  const folder = keystoreFrom(flags)
  const keys = listKeyFiles(folder).map((one) => ('keystore' in one ? shown(one) : one))
  const rows = keys.map((key) => [printable(key.name), printable('address' in key ? key.address : key.problem)])
  printAnswer(flags.json, keys, () =>
    rows.length === 0
      ? `there are no keys in ${folder}; svcd keys new NAME creates one`
      : formatTable(['name', 'address'], rows),
  )
}

async function showKey(key: string, flags: KeyFlags): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  const { curve, id, crypto } = found.keystore
  const { salt: _, ...strength } = crypto.kdfparams
  printAnswer(flags.json, { ...shown(found), curve, id, kdf: crypto.kdf, ...strength })
}

async function exportKey(key: string, flags: FlagsOf<typeof exportOptions>): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  if (flags.unsafe !== true) {
    note('this is the encrypted key file; --unsafe prints the private key itself')
    return printAnswer(true, found.keystore)
  }
  const privateKey = `0x${toHex(openKeystore(found.keystore, await passwordOf(found.name, flags)))}`
  note(`WARNING: whoever sees this owns ${found.keystore.address}`)
  printAnswer(flags.json, { ...shown(found), privateKey }, () => privateKey)
}

async function changePassword(key: string, flags: FlagsOf<typeof passwdOptions>): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  const seed = openKeystore(found.keystore, await passwordOf(found.name, flags, { more: true }))
  const what = `new password of ${found.name}`
  const { newPasswordFile: file, allowShortPassword: mayBeShort } = flags
  const fresh = await readSecret({ what, file, flag: '--new-password-file', isNew: true, mayBeShort })
  replaceKeyFile(found, createKeystore(seed, fresh))
  printAnswer(flags.json, shown(found), () => `the password of ${found.name} was changed`)
}

async function deleteKey(key: string, flags: FlagsOf<typeof deleteOptions>): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  const { name, address } = shown(found)
  const question = `Remove the key ${name} (${address})? Without a copy its account is lost.`
  if (!(await confirm(question, flags.yes))) throw new Failed('nothing was removed')
  removeKeyFile(found)
  printAnswer(flags.json, shown(found), () => `removed ${name} (${address})`)
}

async function printMnemonic({ json, unsafe, words }: FlagsOf<typeof mnemonicOptions>): Promise<void> {
  if (unsafe !== true) throw new UserError('a mnemonic is secret: add --unsafe to print it')
  if (words !== '12' && words !== '24') throw new UserError(`--words: expected 12 or 24, got ${JSON.stringify(words)}`)
  const mnemonic = newMnemonic(words === '12' ? 12 : 24)
  note("WARNING: whoever sees these words owns their accounts (path m/44'/1'/i'/0'/0')")
  printAnswer(json, { mnemonic }, () => mnemonic)
}

/** Configures `svcd keys`. */
export const configure: Configure = (keys) => {
  withOptions(keys, 'svcd keys list')
  subcommand(
    keys,
    'new <name>',
    'Creates a key and encrypts it with a password.',
    'svcd keys new alice --password-file password.txt',
    newSecretOptions,
  ).action(newKey)
  subcommand(
    keys,
    'import <name>',
    'Imports a key from a mnemonic, a private key or a key file. The secret comes from a file, a prompt or stdin.',
    'svcd keys import bob --private-key --secret-file secret.txt --password-file password.txt',
    importOptions,
  ).action(importKey)
  subcommand(keys, 'list', 'Lists the keys in the folder.', 'svcd keys list', keyOptions).action(listKeys)
  subcommand(
    keys,
    'show <key>',
    'Shows one key, by name or address, without its secret.',
    'svcd keys show alice',
    keyOptions,
  ).action(showKey)
  subcommand(
    keys,
    'export <key>',
    'Prints the key file, which is encrypted, or with --unsafe the private key itself.',
    'svcd keys export alice',
    exportOptions,
  ).action(exportKey)
  subcommand(
    keys,
    'passwd <key>',
    'Changes the password of a key.',
    'svcd keys passwd alice --password-file password.txt --new-password-file password.txt',
    passwdOptions,
  ).action(changePassword)
  subcommand(
    keys,
    'delete <key>',
    'Removes a key file. Without a copy of the key, the account is lost.',
    'svcd keys delete bob --yes',
    deleteOptions,
  ).action(deleteKey)
  subcommand(
    keys,
    'mnemonic',
    'Prints a new mnemonic, for svcd keys import.',
    'svcd keys mnemonic --unsafe',
    mnemonicOptions,
  ).action(printMnemonic)
}
