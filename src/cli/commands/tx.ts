import type { Command } from 'commander'
import type { TxEntry } from '../../modules/define.ts'
import { txEntries } from '../../modules/registry.ts'
import {
  addMemberOptions,
  type Configure,
  example,
  kebab,
  keystoreOption,
  nodeOption,
  passwordOption,
  sampleOptions,
  sampleSender,
  withGateway,
} from '../options.ts'
import { sendTx, type TxFlags } from '../transact.ts'

/** The words of an operation behind `svcd tx`: `stake.validator.declare` is `stake declare`. */
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
  const options = sampleOptions(entry.operation, entry.input)
  example(command, `svcd tx ${words.join(' ')} --from ${sampleSender(entry)}${options === '' ? '' : ` ${options}`}`)
  addMemberOptions(command, entry.input)
  withGateway(command)
    .option(
      '--from <account>',
      'who sends: a key by name or address, else an account that the gateway signs for (SVCD_FROM)',
    )
    .option('--nonce <number>', 'number of transactions made by the sender before this one (default: asked for)')
    .addOption(keystoreOption())
    .addOption(passwordOption())
    .addOption(nodeOption())
    .option('--wait', 'wait for the block', true)
    .option('--no-wait', 'end once the node has accepted it; sends straight to --node')
    .option('--dry-run', 'let --node check it, and send nothing; until the next block the node counts it for the nonce')
    .action(async (flags: TxFlags) => finish(await sendTx(entry, words.join(' '), flags)))
}

/** `svcd tx …`: one command for each transaction type of the chain. */
export const configure: Configure = (tx, finish) => {
  example(
    tx,
    `svcd tx transfer --from ${sampleSender(txEntries.find(({ operation }) => operation === 'transfer') as TxEntry)} ` +
      sampleOptions('transfer', txEntries.find(({ operation }) => operation === 'transfer')?.input ?? {}),
  )
  const groups = new Map<string, Command>()
  for (const entry of txEntries) {
    const words = wordsOf(entry)
    let at = tx
    for (const [place, word] of words.entries()) {
      const path = words.slice(0, place + 1).join(' ')
      const next = groups.get(path) ?? at.command(word).enablePositionalOptions()
      groups.set(path, next)
      if (place < words.length - 1) next.description(`Transactions of ${word}.`)
      at = next
    }
    configureOne(at, entry, words, finish)
  }
}
