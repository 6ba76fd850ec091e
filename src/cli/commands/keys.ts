import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
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
import { isWeak, createKeystore, openKeystore, SEED_BYTES } from '../../keys/keystore.ts'
import { newMnemonic, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { asFailed, Failed, UserError } from '../errors.ts'
import {
  type CommonFlags,
  type Configure,
  example,
  keystoreFrom,
  keystoreOption,
  passwordOption,
  withCommon,
} from '../options.ts'
import { printAnswer, clean, formatFields, note, formatTable } from '../output.ts'
import { confirm, passwordFile, readSecret } from '../secrets.ts'

interface Flags {
  readonly json?: boolean
  readonly passwordFile?: string
}

const password = (
  name: string,
  flags: Flags,
  asked: { readonly isNew?: boolean; readonly more?: boolean } = {},
): Promise<string> =>
  readSecret({ what: `password of ${name}`, file: passwordFile(flags.passwordFile), flag: '--password-file', ...asked })

const shown = ({ name, path, keystore }: KeyFile): Record<string, unknown> => ({
  name,
  address: keystore.address,
  path,
})

/**
 * Encrypts a seed with a password, writes the key file and prints the address. Throws a Failed when the name or the
 * account is taken.
 */
async function store(folder: string, name: string, seed: Uint8Array, flags: Flags): Promise<void> {
  const keystore = createKeystore(seed, await password(name, flags, { isNew: true }))
  const path = asFailed(() => addKeyFile(folder, name, keystore))
  const key = shown({ name, path, keystore })
  printAnswer(flags.json, key, () => formatFields(key))
}

/** Throws a Failed when no new key may have this name, before a secret is asked for. */
const checked = (folder: string, name: string): void => asFailed(() => checkFree(folder, name))

/** `svcd keys new`. */
export async function newKey(folder: string, name: string, flags: Flags): Promise<void> {
  checked(folder, name)
  await store(folder, name, randomBytes(SEED_BYTES), flags)
}

/** The flags of `svcd keys import`. Exactly one of `mnemonic`, `privateKey` and `file` must be given. */
export interface ImportFlags extends Flags {
  readonly keystore?: string
  readonly mnemonic?: boolean
  readonly index: string
  readonly privateKey?: boolean
  readonly file?: string
  readonly secretFile?: string
}

function seedOf(secret: string, flags: ImportFlags): Uint8Array {
  if (flags.privateKey === true) {
    const seed = fromHex(secret.trim().replace(/^0x/, ''))
    if (seed?.length !== SEED_BYTES)
      throw new Failed(`the private key: expected ${2 * SEED_BYTES} hex digits, got ${secret.trim().length} characters`)
    return seed
  }
  if (!/^[0-9]{1,9}$/.test(flags.index))
    throw new UserError(`--index: expected a whole number from 0 to 999999999, got ${JSON.stringify(flags.index)}`)
  try {
    return seedOfMnemonic(secret.trim().replace(/\s+/g, ' '), Number(flags.index))
  } catch (error) {
    throw new Failed((error as Error).message)
  }
}

/** `svcd keys import`. */
export async function importKey(folder: string, name: string, flags: ImportFlags): Promise<void> {
  checked(folder, name)
  const { mnemonic, privateKey, file, secretFile } = flags
  if ([mnemonic, privateKey, file].filter((one) => one !== undefined).length !== 1) {
    throw new UserError('expected exactly one of --mnemonic, --private-key and --file FILE')
  }
  if (file !== undefined) {
    const given = asFailed(() => readKeyFile(file))
    // The password is checked now, because later nobody may remember another one.
    const opens = await password(name, flags)
    const seed = asFailed(() => openKeystore(given, opens))
    const keystore = isWeak(given) ? createKeystore(seed, opens) : given
    const key = shown({ name, keystore, path: asFailed(() => addKeyFile(folder, name, keystore)) })
    if (keystore !== given) {
      note(
        `the encryption of ${file} is weak, so ${name} was encrypted again with the same password (scrypt, ` +
          `n ${keystore.crypto.kdfparams['n']}). Remove that file`,
      )
    }
    return printAnswer(flags.json, key, () => formatFields(key))
  }
  const what = mnemonic === true ? 'mnemonic' : 'private key'
  const secret = await readSecret({ what, file: secretFile, flag: '--secret-file', more: true })
  await store(folder, name, seedOf(secret, flags), flags)
}

/** `svcd keys list`. */
export async function listKeys(folder: string, flags: Flags): Promise<void> {
  const keys = listKeyFiles(folder).map((one) =>
    'keystore' in one ? shown(one) : { name: one.name, path: one.path, problem: one.problem },
  )
  printAnswer(flags.json, keys, () =>
    keys.length === 0
      ? `there are no keys in ${folder}; svcd keys new NAME creates one`
      : formatTable(
          ['name', 'address'],
          keys.map((key) => [clean(String(key['name'])), clean(String(key['address'] ?? key['problem']))]),
        ),
  )
}

/** `svcd keys show`. */
export async function showKey(folder: string, key: string, flags: Flags): Promise<void> {
  const found = asFailed(() => findKey(folder, key))
  const { kdf, kdfparams } = found.keystore.crypto
  const { salt: _, ...strength } = kdfparams
  const all = { ...shown(found), curve: found.keystore.curve, id: found.keystore.id, kdf, ...strength }
  printAnswer(flags.json, all, () => formatFields(all))
}

/** `svcd keys export`. */
export async function exportKey(
  folder: string,
  key: string,
  flags: Flags & { readonly unsafe?: boolean },
): Promise<void> {
  const found = asFailed(() => findKey(folder, key))
  if (flags.unsafe !== true) {
    note('this is the encrypted key file; --unsafe prints the private key itself')
    return printAnswer(true, found.keystore, () => '')
  }
  const given = await password(found.name, flags)
  const privateKey = `0x${toHex(asFailed(() => openKeystore(found.keystore, given)))}`
  note(`WARNING: whoever sees this owns ${found.keystore.address}`)
  printAnswer(flags.json, { ...shown(found), privateKey }, () => privateKey)
}

/** `svcd keys passwd`. */
export async function changePassword(
  folder: string,
  key: string,
  flags: Flags & { readonly newPasswordFile?: string },
): Promise<void> {
  const found = asFailed(() => findKey(folder, key))
  const old = await password(found.name, flags, { more: true })
  const seed = asFailed(() => openKeystore(found.keystore, old))
  const what = `new password of ${found.name}`
  const fresh = await readSecret({ what, file: flags.newPasswordFile, flag: '--new-password-file', isNew: true })
  asFailed(() => replaceKeyFile(found, createKeystore(seed, fresh)))
  printAnswer(flags.json, shown(found), () => `the password of ${found.name} was changed`)
}

/** `svcd keys delete`. */
export async function deleteKey(folder: string, key: string, flags: Flags & { readonly yes?: boolean }): Promise<void> {
  const found = asFailed(() => findKey(folder, key))
  const {
    name,
    keystore: { address },
  } = found
  const question = `Remove the key ${name} (${address})? Without a copy its account is lost.`
  if (!(await confirm(question, flags.yes))) throw new Failed('nothing was removed')
  removeKeyFile(found)
  printAnswer(flags.json, shown(found), () => `removed ${name} (${address})`)
}

/** `svcd keys mnemonic`. */
export async function printMnemonic(flags: {
  readonly json?: boolean
  readonly unsafe?: boolean
  readonly words: string
}): Promise<void> {
  if (flags.unsafe !== true) throw new UserError('a mnemonic is secret: add --unsafe to print it')
  if (flags.words !== '12' && flags.words !== '24')
    throw new UserError(`--words: expected 12 or 24, got ${JSON.stringify(flags.words)}`)
  const mnemonic = newMnemonic(flags.words === '12' ? 12 : 24)
  note("WARNING: whoever sees these words owns their accounts (path m/44'/1'/i'/0'/0')")
  printAnswer(flags.json, { mnemonic }, () => mnemonic)
}

interface Flags extends CommonFlags {
  readonly keystore?: string
  readonly passwordFile?: string
}

/** Adds a command below `keys`, with the options that all of them share. */
function below(keys: Command, usage: string, doc: string, ...lines: readonly string[]): Command {
  return withCommon(example(keys.command(usage).description(doc), ...lines)).addOption(keystoreOption())
}

function configureImport(keys: Command): void {
  below(
    keys,
    'import <name>',
    'Imports a key from a mnemonic, a private key or a key file. The secret comes from a file, a prompt or stdin.',
    'svcd keys import bob --private-key --secret-file secret.txt --password-file password.txt',
  )
    .option('--mnemonic', 'the secret is a BIP-39 mnemonic')
    .option('--index <number>', 'number of the account of the mnemonic', '0')
    .option('--private-key', 'the secret is an ed25519 seed: 32 bytes in hex')
    .option('--file <file>', 'import this key file, which keeps its password')
    .option('--secret-file <file>', 'file that holds the mnemonic or the private key')
    .addOption(passwordOption())
    .action(async (name: string, flags: ImportFlags & CommonFlags) => importKey(keystoreFrom(flags), name, flags))
}

/** Configures `svcd keys`. */
export const configure: Configure = (keys) => {
  example(keys, 'svcd keys list')
  below(
    keys,
    'new <name>',
    'Creates a key and encrypts it with a password.',
    'svcd keys new alice --password-file password.txt',
  )
    .addOption(passwordOption())
    .action(async (name: string, flags: Flags) => newKey(keystoreFrom(flags), name, flags))
  configureImport(keys)
  below(keys, 'list', 'Lists the keys in the folder.', 'svcd keys list').action(async (flags: Flags) =>
    listKeys(keystoreFrom(flags), flags),
  )
  below(keys, 'show <key>', 'Shows one key, by name or address, without its secret.', 'svcd keys show alice').action(
    async (key: string, flags: Flags) => showKey(keystoreFrom(flags), key, flags),
  )
  below(
    keys,
    'export <key>',
    'Prints the key file, which is encrypted, or with --unsafe the private key itself.',
    'svcd keys export alice',
  )
    .option('--unsafe', 'print the private key; whoever sees it owns the account')
    .addOption(passwordOption())
    .action(async (key: string, flags: Flags & { readonly unsafe?: boolean }) =>
      exportKey(keystoreFrom(flags), key, flags),
    )
  below(
    keys,
    'passwd <key>',
    'Changes the password of a key.',
    'svcd keys passwd alice --password-file password.txt --new-password-file password.txt',
  )
    .addOption(passwordOption())
    .option(
      '--new-password-file <file>',
      'file that holds the new password (default: a prompt, or the next line of stdin)',
    )
    .action(async (key: string, flags: Flags & { readonly newPasswordFile?: string }) =>
      changePassword(keystoreFrom(flags), key, flags),
    )
  below(
    keys,
    'delete <key>',
    'Removes a key file. Without a copy of the key, the account is lost.',
    'svcd keys delete bob --yes',
  )
    .option('--yes', 'do not ask')
    .action(async (key: string, flags: Flags & { readonly yes?: boolean }) =>
      deleteKey(keystoreFrom(flags), key, flags),
    )
  const mnemonic = keys.command('mnemonic').description('Prints a new mnemonic, for svcd keys import.')
  withCommon(example(mnemonic, 'svcd keys mnemonic --unsafe'))
    .option('--unsafe', 'print it; whoever sees it owns its accounts')
    .option('--words <count>', 'number of words, 12 or 24', '24')
    .action(async (flags: CommonFlags & { readonly unsafe?: boolean; readonly words: string }) => printMnemonic(flags))
}
