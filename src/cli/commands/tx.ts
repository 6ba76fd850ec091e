import type { Command } from 'commander'
import type { TxEntry } from '../../modules/define.ts'
import { txEntries } from '../../modules/registry.ts'
import {
  addFieldOptions,
  type Configure,
  example,
  kebab,
  keystoreOption,
  nodeOption,
  passwordOption,
  exampleOptions,
  exampleSender,
  withGateway,
} from '../options.ts'
import { sendTx, type TxFlags } from '../transact.ts'

/** The command of an operation: `stake.validator.declare` is `stake declare`. */
const wordsOf = ({ call }: TxEntry): readonly string[] =>
  call
    .split('.')
    .filter((word) => word !== 'validator')
    .map(kebab)

function configureOne(
  command: Command,
  entry: TxEntry,
  words: readonly string[],
  finish: (status: number) => void,
): void {
  command.description(`${entry.doc}${entry.returns === undefined ? '' : ` Returns the ${entry.returns}.`}`)
  const options = exampleOptions(entry.operation, entry.input)
  example(command, `svcd tx ${words.join(' ')} --from ${exampleSender(entry)}${options === '' ? '' : ` ${options}`}`)
  addFieldOptions(command, entry.input)
  withGateway(command)
    .option(
      '--from <account>',
      'sender: a key by name or address, else an account for which the gateway signs (SVCD_FROM)',
    )
    .option('--nonce <number>', 'nonce of the transaction: how many the sender made before it (default: the next one)')
    .addOption(keystoreOption())
    .addOption(passwordOption())
    .addOption(nodeOption())
    .option('--wait', 'wait for the block of the transaction', true)
    .option('--no-wait', 'end as soon as --node, to which it is sent directly, has accepted the transaction')
    .option(
      '--dry-run',
      'only let --node check the transaction; until its next block the node counts the nonce as used',
    )
    .action(async (flags: TxFlags) => finish(await sendTx(entry, words.join(' '), flags)))
}

/** Configures `svcd tx`: one command for each transaction type. */
export const configure: Configure = (tx, finish) => {
  example(
    tx,
    `svcd tx transfer --from ${exampleSender(txEntries.find(({ operation }) => operation === 'transfer') as TxEntry)} ` +
      exampleOptions('transfer', txEntries.find(({ operation }) => operation === 'transfer')?.input ?? {}),
  )
  const groups = new Map<string, Command>()
  for (const entry of txEntries) {
    const words = wordsOf(entry)
    let parent = tx
    for (const [index, word] of words.entries()) {
      const path = words.slice(0, index + 1).join(' ')
      const next = groups.get(path) ?? parent.command(word).enablePositionalOptions()
      groups.set(path, next)
      if (index < words.length - 1) next.description(`Sends a transaction of ${word}.`)
      parent = next
    }
    configureOne(parent, entry, words, finish)
  }
}
