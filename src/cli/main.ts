import { Command, CommanderError } from 'commander'
import { VERSION } from '../base/version.ts'
import { isFailed, isUserError } from './errors.ts'
import type { Configure } from './options.ts'
import { isOn } from './settings.ts'

/** One command: its line in the list, and the file that makes the rest of it. */
export interface Listed {
  readonly name: string
  readonly doc: string
  readonly load: () => Promise<{ readonly configure: Configure }>
}

/** Every command. A command is loaded when it is asked for: none pays for what the others need. */
export const COMMANDS: readonly Listed[] = [
  {
    name: 'devnet',
    doc: 'One validator, the application and the gateway on this machine, with ten funded accounts.',
    load: () => import('./commands/devnet.ts'),
  },
  {
    name: 'init',
    doc: 'Makes a home: keys of a node, its configuration and a genesis file.',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'testnet',
    doc: 'Makes the homes of several validators: keys, one genesis, peers, scripts.',
    load: () => import('./commands/testnet.ts'),
  },
  {
    name: 'start',
    doc: 'The ABCI application of a home, for a CometBFT node that runs beside it.',
    load: () => import('./commands/start.ts'),
  },
  { name: 'gateway', doc: 'The JSON-RPC gateway of a node.', load: () => import('./commands/gateway.ts') },
  {
    name: 'keys',
    doc: 'Key files: make, import, list, show, export, change the password, delete.',
    load: () => import('./commands/keys.ts'),
  },
  { name: 'tx', doc: 'Sends a transaction and waits for its block.', load: () => import('./commands/tx.ts') },
  { name: 'query', doc: 'Asks a gateway.', load: () => import('./commands/query.ts') },
  {
    name: 'eni',
    doc: 'Native libraries: what this node holds of those that were proposed.',
    load: () => import('./commands/eni.ts'),
  },
  { name: 'status', doc: 'What the node behind a gateway says of itself.', load: () => import('./commands/status.ts') },
  {
    name: 'doctor',
    doc: 'Looks for what is wrong with this machine, the home, its state and its node.',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'snapshot',
    doc: 'Snapshots of the state: make, list, verify, restore.',
    load: () => import('./commands/snapshot.ts'),
  },
  {
    name: 'export',
    doc: 'Writes the state as a genesis file that starts a new chain.',
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'rollback',
    doc: 'Takes the last block of a stopped node back: the application and CometBFT in step.',
    load: () => import('./commands/rollback.ts'),
  },
  {
    name: 'reset',
    doc: 'Removes the state and the blocks of a home; its keys and its configuration stay.',
    load: () => import('./commands/reset.ts'),
  },
]

async function program(args: readonly string[], finish: (status: number) => void): Promise<Command> {
  // Options of the program stand before the command: behind it `--version` may be an operation's member.
  const svcd = new Command('svcd')
    .version(VERSION)
    .description('A staking and governance blockchain on CometBFT.')
    .showHelpAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', '\nEvery command tells more: svcd help keys\n\nExample:\n  svcd devnet')
  const asked = args[0] === 'help' ? args[1] : args[0]
  for (const { name, doc, load } of COMMANDS) {
    const command = svcd.command(name).description(doc).enablePositionalOptions()
    if (name === asked) (await load()).configure(command, finish)
  }
  return svcd
}

/** Prints what a command threw; returns the exit status. */
function report(error: unknown, json: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const line = (text: string): void => void process.stderr.write(`svcd: ${text}\n`)
  const answer = (value: unknown): void => {
    if (json) process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`)
  }
  if (isFailed(error)) {
    answer(error.answer)
    line(error.message)
    return 1
  }
  if (isUserError(error)) {
    answer({ error: { message: error.message } })
    line(error.message)
    return 2
  }
  // A defect of ours: its trace is for those who ask for it.
  const trace = isOn(process.env['SVCD_TRACE'])
  const shown = error instanceof Error ? (trace ? error.stack : error.message) : String(error)
  line(`unexpected: ${shown ?? ''}${trace ? '' : ' (SVCD_TRACE=1 shows where)'}`)
  return 1
}

/**
 * Runs one command. Exit status: 0 done, 1 failed, 2 wrong usage or something the person can put right, in one line.
 */
export async function main(args: readonly string[]): Promise<void> {
  // What svcd and the programs that it starts write is for this user alone: folders 0700, files 0600.
  process.umask(0o077)
  let status = 0
  try {
    const svcd = await program(args, (given) => {
      status = given
    })
    await svcd.parseAsync(args, { from: 'user' })
  } catch (error) {
    status = report(error, args.includes('--json'))
  }
  process.exit(status)
}
