import { Command, CommanderError } from 'commander'
import { VERSION } from '../base/version.ts'
import { exitStatusOf, Failed, shownFor } from '../node/errors.ts'
import { assertOwnHome, type Configure } from './options.ts'
import { note, say } from './output.ts'
import { isOn } from '../node/settings.ts'

const DESCRIPTIONS = {
  devnet: 'Runs one validator, its application and a gateway on this machine, with ten funded accounts and a faucet.',
  init: 'Creates the home of a node: its keys, its configuration and a genesis file.',
  testnet: 'Creates the homes of several validators: keys, one genesis file, peers and scripts.',
  node: 'Runs a home as one node: its application, CometBFT and a gateway. What ends is started again.',
  start: 'Runs the ABCI application of a home, for a CometBFT node that runs beside it.',
  gateway: 'Runs the JSON-RPC gateway of a node.',
  keys: 'Manages key files: creates, imports, lists, shows, exports and deletes keys, and changes passwords.',
  tx: 'Sends a transaction and waits for its block.',
  query: 'Queries the chain through a gateway.',
  eni: 'Shows which of the proposed native libraries this node has.',
  status: 'Shows the status of a gateway and its node.',
  doctor: 'Checks this machine, the home, its state and its node for problems.',
  program: 'Sets which program version this release runs, after the chain has retired another one.',
  snapshot: 'Creates, lists, verifies and restores snapshots of the state.',
  export: 'Writes the state as a genesis file from which a new chain can start.',
  index: 'Keeps the index of histories complete.',
  rollback: 'Takes back the last block of a stopped node, in the application and in CometBFT.',
  reset: 'Removes the state and the blocks of a home. Its keys and its configuration stay.',
  completion: 'Prints the script by which a shell completes commands, options, their values and the names of keys.',
} as const

type CommandName = keyof typeof DESCRIPTIONS

/** The file of each command. It is loaded only when that command runs, so that none pays for what others import. */
const LOADERS: Readonly<Record<CommandName, () => Promise<{ readonly configure: Configure }>>> = {
  devnet: () => import('./commands/devnet.ts'),
  init: () => import('./commands/init.ts'),
  testnet: () => import('./commands/testnet.ts'),
  node: () => import('./commands/node.ts'),
  start: () => import('./commands/start.ts'),
  gateway: () => import('./commands/gateway.ts'),
  keys: () => import('./commands/keys.ts'),
  tx: () => import('./commands/tx.ts'),
  query: () => import('./commands/query.ts'),
  eni: () => import('./commands/eni.ts'),
  status: async () => ({ configure: (await import('./commands/doctor.ts')).configureStatus }),
  doctor: () => import('./commands/doctor.ts'),
  program: () => import('./commands/program.ts'),
  snapshot: () => import('./commands/snapshot.ts'),
  export: () => import('./commands/export.ts'),
  index: () => import('./commands/index.ts'),
  rollback: () => import('./commands/rollback.ts'),
  reset: () => import('./commands/reset.ts'),
  completion: () => import('./commands/completion.ts'),
}

/** Every command: its name, its description, and the function that loads its file. */
export const COMMANDS = Object.entries(DESCRIPTIONS).map(([name, doc]) => ({
  name,
  doc,
  load: LOADERS[name as CommandName],
}))

/** The whole program, with what `args` need of its commands. */
export async function program(args: readonly string[]): Promise<Command> {
  // The program's own options stand before the command, because behind it `--version` may be an operation's field.
  const svcd = new Command('svcd')
    .version(VERSION)
    .description('A staking and governance blockchain on CometBFT.')
    .showHelpAfterError('Add --help to see what the command takes.')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'svcd:')) })
    .enablePositionalOptions()
    .exitOverride()
    // Not where the option is read: that of `--home` is read for its default too, which another one may replace.
    .hook('preAction', (_svcd, action) => {
      const home: unknown = action.getOptionValue('home')
      if (typeof home === 'string') assertOwnHome(home, args[0] ?? '', action.name())
    })
    .addHelpText('after', '\nFor more on a command, run for example: svcd help keys\n\nExample:\n  svcd devnet')
  // A command line that is completed is made of the words behind those of `completion` itself.
  const asked = args[0] === 'completion' ? ['completion', args[3]] : [args[0] === 'help' ? args[1] : args[0]]
  for (const { name, doc, load } of COMMANDS) {
    const command = svcd.command(name).description(doc).enablePositionalOptions()
    if (asked.includes(name)) (await load()).configure(command)
  }
  return svcd
}

/** Prints what a command threw; returns the exit status. */
function report(thrown: unknown, json: boolean): number {
  const error = shownFor(thrown)
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const { message = String(error), stack, problem } = error as Partial<Error> & { readonly problem?: unknown }
  const status = exitStatusOf(error)
  if (status === undefined) {
    // A bug of svcd: the stack trace is shown only on request.
    note(
      isOn(process.env['SVCD_TRACE'])
        ? `svcd: unexpected error: ${stack ?? message}`
        : `svcd: unexpected error: ${message} (SVCD_TRACE=1 shows the stack trace)`,
    )
    return 1
  }
  if (json) say(JSON.stringify(error instanceof Failed ? error.answer : { error: { message, problem } }, undefined, 2))
  note(`svcd: ${message}`)
  return status
}

/** Resolves once everything was written: the end of the process would cut off what a pipe did not take yet. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => {
    stream.on('error', () => done())
    stream.write('', () => done())
  })

/**
 * Watches stdout and stderr from the start. A reader who has gone, as `head` does, is no failure and ends nothing. An answer
 * that a full disk did not take is one. Returns a function that tells the reason.
 */
function watchOutput(): () => string | undefined {
  let why: string | undefined
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') why = message
  })
  return () => why
}

/**
 * Runs one command and ends the process. Exit status: 0 for success, 1 for a failure, 2 for wrong usage or another
 * mistake that the user can correct.
 */
export async function main(args: readonly string[]): Promise<void> {
  // Files and folders that svcd and its programs create are for this user alone: modes 0600 and 0700.
  process.umask(0o077)
  const whyUnwritten = watchOutput()
  try {
    await (await program(args)).parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = report(error, args.includes('--json'))
  }
  await written(process.stdout)
  const why = whyUnwritten()
  if (why !== undefined) {
    process.exitCode ||= 1
    note(`svcd: the answer could not be written whole: ${why}`)
  }
  await written(process.stderr)
  process.exit()
}
