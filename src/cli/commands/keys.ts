import type { Command } from 'commander'
import type { ImportFlags } from '../keyring.ts'
import {
  type CommonFlags,
  type Configure,
  example,
  keystoreFrom,
  keystoreOption,
  passwordOption,
  withCommon,
} from '../command.ts'

interface Flags extends CommonFlags {
  readonly keystore?: string
  readonly passwordFile?: string
}

const load = () => import('../keyring.ts')

/** One command below `keys`, with the options that all of them have. */
function below(keys: Command, usage: string, doc: string, ...lines: readonly string[]): Command {
  return withCommon(example(keys.command(usage).description(doc), ...lines)).addOption(keystoreOption())
}

function configureImport(keys: Command): void {
  below(
    keys,
    'import <name>',
    'Takes a key from a mnemonic, a private key or a key file; the secret comes from a file, a prompt or stdin.',
    'svcd keys import bob --private-key --secret-file secret.txt --password-file password.txt',
  )
    .option('--mnemonic', 'the secret is a BIP-39 mnemonic')
    .option('--index <number>', 'which account of the mnemonic', '0')
    .option('--private-key', 'the secret is 32 bytes of hex: an ed25519 seed')
    .option('--file <file>', 'a key file of this chain, which keeps its password')
    .option('--secret-file <file>', 'file with the mnemonic or the private key')
    .addOption(passwordOption())
    .action(async (name: string, flags: ImportFlags & CommonFlags) =>
      (await load()).importKey(keystoreFrom(flags), name, flags),
    )
}

/** `svcd keys …`. */
export const configure: Configure = (keys) => {
  example(keys, 'svcd keys list')
  below(
    keys,
    'new <name>',
    'Makes a key and seals it with a password.',
    'svcd keys new alice --password-file password.txt',
  )
    .addOption(passwordOption())
    .action(async (name: string, flags: Flags) => (await load()).newKey(keystoreFrom(flags), name, flags))
  configureImport(keys)
  below(keys, 'list', 'The keys of the folder.', 'svcd keys list').action(async (flags: Flags) =>
    (await load()).listKeys(keystoreFrom(flags), flags),
  )
  below(keys, 'show <key>', 'One key, by name or address; no secret is shown.', 'svcd keys show alice').action(
    async (key: string, flags: Flags) => (await load()).showKey(keystoreFrom(flags), key, flags),
  )
  below(
    keys,
    'export <key>',
    'Prints the key file, which is sealed; with --unsafe the private key itself.',
    'svcd keys export alice',
  )
    .option('--unsafe', 'print the private key: whoever sees it owns the account')
    .addOption(passwordOption())
    .action(async (key: string, flags: Flags & { readonly unsafe?: boolean }) =>
      (await load()).exportKey(keystoreFrom(flags), key, flags),
    )
  below(
    keys,
    'passwd <key>',
    'Changes the password of a key.',
    'svcd keys passwd alice --password-file password.txt --new-password-file password.txt',
  )
    .addOption(passwordOption())
    .option('--new-password-file <file>', 'file with the new password (default: a prompt, or the next line of stdin)')
    .action(async (key: string, flags: Flags & { readonly newPasswordFile?: string }) =>
      (await load()).changePassword(keystoreFrom(flags), key, flags),
    )
  below(
    keys,
    'delete <key>',
    'Removes a key file: the account is lost unless its key is kept elsewhere.',
    'svcd keys delete bob --yes',
  )
    .option('--yes', 'do not ask')
    .action(async (key: string, flags: Flags & { readonly yes?: boolean }) =>
      (await load()).deleteKey(keystoreFrom(flags), key, flags),
    )
  const mnemonic = keys.command('mnemonic').description('Prints a new mnemonic; svcd keys import takes it.')
  withCommon(example(mnemonic, 'svcd keys mnemonic --unsafe'))
    .option('--unsafe', 'print it: whoever sees it owns its accounts')
    .option('--words <count>', '12 or 24', '24')
    .action(async (flags: CommonFlags & { readonly unsafe?: boolean; readonly words: string }) =>
      (await load()).printMnemonic(flags),
    )
}
