import { Command, CommanderError } from 'commander'
import { VERSION } from '../base/version.ts'
import { isFailed, isUserError } from './errors.ts'
import type { Configure } from './options.ts'
import { isOn } from './settings.ts'

/** A command: its name, its description, and the file that configures it. */
export interface Listed {
  readonly name: string
  readonly doc: string
  readonly load: () => Promise<{ readonly configure: Configure }>
}

/** Every command. A command's file is loaded only when that command runs, so that none pays for what others import. */
export const COMMANDS: readonly Listed[] = [
  {
    name: 'devnet',
    doc: 'Runs one validator, its application and a gateway on this machine, with ten funded accounts.',
    load: () => import('./commands/devnet.ts'),
  },
  {
    name: 'init',
    doc: 'Creates the home of a node: its keys, its configuration and a genesis file.',
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'testnet',
    doc: 'Creates the homes of several validators: keys, one genesis file, peers and scripts.',
    load: () => import('./commands/testnet.ts'),
  },
  {
    name: 'start',
    doc: 'Runs the ABCI application of a home, for a CometBFT node that runs beside it.',
    load: () => import('./commands/start.ts'),
  },
  { name: 'gateway', doc: 'Runs the JSON-RPC gateway of a node.', load: () => import('./commands/gateway.ts') },
  {
    name: 'keys',
    doc: 'Manages key files: creates, imports, lists, shows, exports and deletes keys, and changes passwords.',
    load: () => import('./commands/keys.ts'),
  },
  { name: 'tx', doc: 'Sends a transaction and waits for its block.', load: () => import('./commands/tx.ts') },
  { name: 'query', doc: 'Queries the chain through a gateway.', load: () => import('./commands/query.ts') },
  {
    name: 'eni',
    doc: 'Shows which of the proposed native libraries this node has.',
    load: () => import('./commands/eni.ts'),
  },
  { name: 'status', doc: 'Shows the status of a gateway and its node.', load: () => import('./commands/status.ts') },
  {
    name: 'doctor',
    doc: 'Checks this machine, the home, its state and its node for problems.',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'snapshot',
    doc: 'Creates, lists, verifies and restores snapshots of the state.',
    load: () => import('./commands/snapshot.ts'),
  },
  {
    name: 'export',
    doc: 'Writes the state as a genesis file from which a new chain can start.',
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'rollback',
    doc: 'Takes back the last block of a stopped node, in the application and in CometBFT.',
    load: () => import('./commands/rollback.ts'),
  },
  {
    name: 'reset',
    doc: 'Removes the state and the blocks of a home. Its keys and its configuration stay.',
    load: () => import('./commands/reset.ts'),
  },
]

async function program(args: readonly string[], finish: (status: number) => void): Promise<Command> {
  // The program's own options stand before the command, because behind it `--version` may be an operation's field.
  const svcd = new Command('svcd')
    .version(VERSION)
    .description('A staking and governance blockchain on CometBFT.')
    .showHelpAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', '\nFor more on a command, run for example: svcd help keys\n\nExample:\n  svcd devnet')
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
  // A bug of svcd: the stack trace is shown only on request.
  const trace = isOn(process.env['SVCD_TRACE'])
  const shown = error instanceof Error ? (trace ? error.stack : error.message) : String(error)
  line(`unexpected error: ${shown ?? ''}${trace ? '' : ' (SVCD_TRACE=1 shows the stack trace)'}`)
  return 1
}

/**
 * Runs one command and ends the process. Exit status: 0 for success, 1 for a failure, 2 for wrong usage or another
 * mistake that the user can correct.
 */
export async function main(args: readonly string[]): Promise<void> {
  // Files and folders that svcd and its programs create are for this user alone: modes 0600 and 0700.
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
