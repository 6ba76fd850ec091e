import { randomBytes } from 'node:crypto'
import { compareBytes, fromHex, toHex } from '../../base/bytes.ts'
import { isPrivateKey, privateKeyOfMnemonic } from '../../keys/ethereum.ts'
import {
  addKeyFile,
  addMultisigFile,
  addressOfFile,
  checkFree,
  findAccount,
  findAccountOf,
  findKey,
  type KeyFile,
  listKeyFiles,
  type MultisigFile,
  namesByAddress,
  readKeyFile,
  removeKeyFile,
  replaceKeyFile,
} from '../../keys/files.ts'
import { isWeak, type KeyOwner, ownerOfSeed, sealSecret, SEED_BYTES } from '../../keys/keystore.ts'
import { multisigAccount } from '../../keys/multisig.ts'
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
  refuseBeside,
  subcommand,
  withOptions,
} from '../options.ts'
import { formatFields, formatTable, note, printAnswer } from '../output.ts'
import { printable } from '../../base/printable.ts'
import { confirm, readSecret } from '../secrets.ts'
import { memberAddress } from '../../tx/draft.ts'
import { faultOf, parseMember, printMember } from '../../tx/multisig.ts'
import { parseAddress } from '../../values/address.ts'
import { openKey, ownerBy } from '../keySigner.ts'
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
  option(
    '--ethereum',
    "the secret is a key of Ethereum (secp256k1), a mnemonic at Ethereum's path m/44'/60'/0'/0/index",
  ),
  option('--mnemonic', 'the secret is a BIP-39 mnemonic'),
  option('--index <number>', 'number of the account of the mnemonic (default: 0)', {
    parse: parseWhole([0, 999_999_999]),
  }),
  option('--private-key', 'the secret is an ed25519 seed, or with --ethereum a private key: 32 bytes in hex'),
  option('--file <file>', 'import this key file, which keeps its password; that of an Ethereum wallet too'),
  option('--secret-file <file>', 'file that holds the mnemonic or the private key'),
] as const
const multisigOptions = [
  ...keyOptions,
  option('--threshold <number>', 'how many of the members have to sign', {
    parse: parseWhole([1, 16]),
    isRequired: true,
  }),
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

const kindOf = (file: KeyFile | MultisigFile): string =>
  'keystore' in file ? file.keystore.curve : `${file.account.threshold} of ${file.account.members.length} keys`

const passwordOf = (
  name: string,
  { passwordFile: file }: SecretFlags,
  asked: { readonly isNew?: boolean; readonly mayBeShort?: boolean | undefined; readonly more?: boolean } = {},
): Promise<string> => readSecret({ what: `password of ${name}`, file, flag: '--password-file', ...asked })

const shown = (file: KeyFile | MultisigFile) => ({ name: file.name, address: addressOfFile(file), path: file.path })

/** Encrypts the secret of an owner with a password, writes the key file and prints the address. */
async function storeKey(name: string, secret: Uint8Array, owner: KeyOwner, flags: NewSecretFlags): Promise<void> {
  const { allowShortPassword: mayBeShort } = flags
  const keystore = sealSecret(secret, owner, await passwordOf(name, flags, { isNew: true, mayBeShort }))
  const path = addKeyFile(keystoreFrom(flags), name, keystore)
  printAnswer(flags.json, shown({ name, path, keystore }))
}

async function newKey(name: string, flags: NewSecretFlags): Promise<void> {
  checkFree(keystoreFrom(flags), name) // Before a secret is asked for.
  const seed = randomBytes(SEED_BYTES)
  await storeKey(name, seed, ownerOfSeed(seed), flags)
}

async function secretIn(text: string, { ethereum = false, privateKey, index = 0 }: ImportFlags): Promise<Uint8Array> {
  if (privateKey === true) {
    const secret = fromHex(text.trim().replace(/^0x/, ''))
    if (secret?.length !== SEED_BYTES)
      throw new Failed(`the private key: expected ${2 * SEED_BYTES} hex digits, got ${text.trim().length} characters`)
    if (ethereum && !isPrivateKey(secret)) throw new Failed('the private key: the number is none of secp256k1')
    return secret
  }
  const words = text.trim().replace(/\s+/g, ' ')
  try {
    return ethereum ? await privateKeyOfMnemonic(words, index) : seedOfMnemonic(words, index)
  } catch (error) {
    throw new Failed((error as Error).message)
  }
}

async function importFile(name: string, file: string, flags: ImportFlags): Promise<void> {
  const given = readKeyFile(file)
  if (flags.ethereum === true && given.curve === 'ed25519')
    throw new Failed(`${file} holds an ed25519 key: import it without --ethereum`)
  // The password is checked now, because later nobody may remember another one.
  const password = await passwordOf(name, flags)
  const secret = openKey(given, password)
  const owner = ownerBy(given.curve)(secret)
  // An older file gets the public key that it lacks.
  const keystore = isWeak(given) ? sealSecret(secret, owner, password) : { ...given, ...owner }
  const path = addKeyFile(keystoreFrom(flags), name, keystore)
  if (isWeak(given)) {
    note(
      `the encryption of ${file} is weak, so ${name} was encrypted again with the same password (scrypt, ` +
        `n ${keystore.crypto.kdfparams['n']}). Remove that file`,
    )
  }
  printAnswer(flags.json, shown({ name, path, keystore }))
}

async function importKey(name: string, flags: ImportFlags): Promise<void> {
  checkFree(keystoreFrom(flags), name) // Before a secret is asked for.
  const { ethereum = false, mnemonic, privateKey, file, secretFile } = flags
  if ([mnemonic, privateKey, file].filter((one) => one !== undefined).length !== 1) {
    throw new UserError('expected exactly one of --mnemonic, --private-key and --file FILE')
  }
  if (privateKey === true) refuseBeside('private-key', ['index'], flags)
  if (file !== undefined) refuseBeside('file', ['index', 'secretFile'], flags)
  if (file !== undefined) return importFile(name, file, flags)
  const what = mnemonic === true ? 'mnemonic' : 'private key'
  const text = await readSecret({ what, file: secretFile, flag: '--secret-file', more: true, isAlone: true })
  const secret = await secretIn(text, flags)
  await storeKey(name, secret, ownerBy(ethereum ? 'secp256k1' : 'ed25519')(secret), flags)
}

/** What stands for a key in an account of several. Throws a Failed for an older key file, which does not say. */
function memberOf(file: KeyFile | MultisigFile): Uint8Array {
  if (!('keystore' in file))
    throw new Failed(`${file.name} is an account of several keys, which is no member of another`)
  const { address, curve, public_key: publicKey } = file.keystore
  const member = parseMember(curve === 'secp256k1' ? address : (publicKey ?? ''))
  if (member !== undefined) return member
  throw new Failed(
    `${file.path} is of an older release and does not tell its public key: run svcd keys passwd ${file.name}, which writes it`,
  )
}

/** The member that somebody named: a key of the folder, an address of Ethereum, or an ed25519 public key. */
function memberNamed(folder: string, text: string): Uint8Array {
  const address = parseAddress(text)
  const own = address && findAccountOf(folder, address)
  if (own !== undefined) return memberOf(own)
  const member = parseMember(text)
  if (address !== undefined)
    note(`${address} is taken as an account of Ethereum; name an ed25519 account by its public key (svcd keys show)`)
  return member ?? memberOf(findAccount(folder, text))
}

async function newMultisig(
  name: string,
  named: readonly string[],
  flags: FlagsOf<typeof multisigOptions>,
): Promise<void> {
  const folder = keystoreFrom(flags)
  checkFree(folder, name)
  const members = named.map((text) => memberNamed(folder, text)).sort(compareBytes)
  const twice = members.find((one, at) => at > 0 && compareBytes(one, members[at - 1] as Uint8Array) === 0)
  if (twice !== undefined) throw new Failed(`the member ${printMember(twice)} is given twice`)
  const multisig = { threshold: flags.threshold, members }
  const fault = faultOf(multisig)
  if (fault !== undefined) throw new UserError(fault)
  const account = multisigAccount(multisig)
  const path = addMultisigFile(folder, name, account)
  printMultisig(folder, { name, path, account }, flags.json)
}

/** Prints who may sign for an account of several keys, and how many have to. */
function printMultisig(folder: string, file: MultisigFile, json: boolean | undefined): void {
  const { threshold } = file.account
  const names = namesByAddress(folder)
  const members = file.account.members.map((member) => {
    const address = memberAddress(member)
    const name = names.get(address)
    return { ...(name !== undefined && { name }), address, member: printMember(member) }
  })
  const rows = members.map(({ name = '', address, member }) => [printable(name), address, member])
  printAnswer(json, { ...shown(file), threshold, members }, () =>
    [
      formatFields({ ...shown(file), signers: `${threshold} of ${members.length}` }),
      formatTable(['member', 'address', 'key'], rows),
    ].join('\n'),
  )
}

async function listKeys(flags: KeyFlags): Promise<void> {
  const folder = keystoreFrom(flags)
  const keys = listKeyFiles(folder).map((one) => ('problem' in one ? one : { ...shown(one), kind: kindOf(one) }))
  const rows = keys.map((key) =>
    'problem' in key ? [printable(key.name), printable(key.problem)] : [printable(key.name), key.address, key.kind],
  )
  printAnswer(flags.json, keys, () =>
    rows.length === 0
      ? `there are no keys in ${folder}; svcd keys new NAME creates one`
      : formatTable(['name', 'address', 'kind'], rows),
  )
}

async function showKey(key: string, flags: KeyFlags): Promise<void> {
  const folder = keystoreFrom(flags)
  const found = findAccount(folder, key)
  if ('account' in found) return printMultisig(folder, found, flags.json)
  const { curve, id, crypto, public_key } = found.keystore
  const { salt: _, ...strength } = crypto.kdfparams
  const publicKey = public_key === undefined ? {} : { public_key }
  printAnswer(flags.json, { ...shown(found), curve, ...publicKey, id, kdf: crypto.kdf, ...strength })
}

async function exportKey(key: string, flags: FlagsOf<typeof exportOptions>): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  if (flags.unsafe !== true) {
    note('this is the encrypted key file; --unsafe prints the private key itself')
    return printAnswer(true, found.keystore)
  }
  const privateKey = `0x${toHex(openKey(found.keystore, await passwordOf(found.name, flags)))}`
  note(`WARNING: whoever sees this owns ${found.keystore.address}`)
  printAnswer(flags.json, { ...shown(found), privateKey }, () => privateKey)
}

async function changePassword(key: string, flags: FlagsOf<typeof passwdOptions>): Promise<void> {
  const found = findKey(keystoreFrom(flags), key)
  const secret = openKey(found.keystore, await passwordOf(found.name, flags, { more: true }))
  const what = `new password of ${found.name}`
  const { newPasswordFile: file, allowShortPassword: mayBeShort } = flags
  const fresh = await readSecret({ what, file, flag: '--new-password-file', isNew: true, mayBeShort })
  replaceKeyFile(found, sealSecret(secret, ownerBy(found.keystore.curve)(secret), fresh))
  printAnswer(flags.json, shown(found), () => `the password of ${found.name} was changed`)
}

async function deleteKey(key: string, flags: FlagsOf<typeof deleteOptions>): Promise<void> {
  const found = findAccount(keystoreFrom(flags), key)
  const { name, address } = shown(found)
  const question =
    'account' in found
      ? `Remove ${name} (${address}), an account of ${kindOf(found)}? Its members can make it again.`
      : `Remove the key ${name} (${address})? Without a copy its account is lost.`
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
  subcommand(
    keys,
    'multisig <name> <keys...>',
    'Creates an account of several keys: names of keys, addresses of Ethereum accounts, or ed25519 public keys in base64.',
    'svcd keys multisig team --threshold 2 alice bob 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    multisigOptions,
  ).action(newMultisig)
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
