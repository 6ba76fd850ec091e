import { type Configure, example } from '../command.ts'
import { say } from '../output.ts'
import { homeOf, parseBlockTime, parseEndpoint, parseOs, parseProgramVersion, parseWhole } from '../settings.ts'

/** A switch from its SVCD_* variable: 1, true and yes are on. */
const isOn = (text: string | undefined): boolean => /^(?:1|true|yes)$/i.test(text ?? '')

interface Flags {
  readonly home?: string
  readonly gateway: string
  readonly rpc: string
  readonly p2p: string
  readonly os?: string
  readonly reset?: boolean
  readonly blockTime: string
  readonly validators: string
  readonly acceptProgramVersion?: string
}

/** `svcd devnet`. */
export const configure: Configure = (command, finish) => {
  const { env } = process
  example(command, 'svcd devnet --block-time 300ms --gateway 127.0.0.1:9545')
    .option('--home <dir>', 'where the chain is kept (SVCD_HOME; default ~/.svcd)', env['SVCD_HOME'])
    .option(
      '--gateway <host:port>',
      'where the gateway listens (SVCD_GATEWAY)',
      env['SVCD_GATEWAY'] ?? '127.0.0.1:8545',
    )
    .option('--rpc <host:port>', "where CometBFT's RPC listens (SVCD_RPC)", env['SVCD_RPC'] ?? '127.0.0.1:26657')
    .option('--p2p <host:port>', 'where CometBFT listens for peers (SVCD_P2P)', env['SVCD_P2P'] ?? '127.0.0.1:26656')
    .option(
      '--block-time <time>',
      'time from block to block, such as 300ms (SVCD_BLOCK_TIME)',
      env['SVCD_BLOCK_TIME'] ?? '1s',
    )
    .option(
      '--os <name>',
      'take libraries for ubuntu or centos (SVCD_OS; default: that of this machine)',
      env['SVCD_OS'],
    )
    .option(
      '--validators <count>',
      'how many, 1 to 10, each with ports 10 above those of the one before (SVCD_VALIDATORS)',
      env['SVCD_VALIDATORS'] ?? '1',
    )
    .option('--accept-program-version <number>', 'this build is the successor that executes that program version')
    .option('--reset', 'start a new chain: removes the old one from the home (SVCD_RESET)', isOn(env['SVCD_RESET']))
    .action(async (flags: Flags) => {
      const { runDevnet } = await import('../devnet/run.ts')
      const { DEVNET_ACCOUNTS } = await import('../devnet/genesis.ts')
      const { acceptProgramVersion: accepted } = flags
      const home = homeOf(flags.home)
      finish(
        await runDevnet(
          {
            home,
            gateway: parseEndpoint(flags.gateway, '--gateway'),
            rpc: parseEndpoint(flags.rpc, '--rpc'),
            p2p: parseEndpoint(flags.p2p, '--p2p'),
            blockTimeMs: parseBlockTime(flags.blockTime),
            os: flags.os === undefined ? undefined : parseOs(flags.os),
            reset: flags.reset === true,
            validators: parseWhole(flags.validators, '--validators', [1, DEVNET_ACCOUNTS]),
            acceptProgramVersion: accepted === undefined ? undefined : parseProgramVersion(accepted),
          },
          say,
        ),
      )
    })
}
