import { type Configure, example } from '../command.ts'
import { closeHome } from '../homeMode.ts'
import { note } from '../output.ts'
import { homeOf, parseEndpoint, parseProgramVersion } from '../settings.ts'

interface Flags {
  readonly home?: string
  readonly abci?: string
  readonly os?: string
  readonly logFile?: string
  readonly acceptProgramVersion?: string
  readonly snapshotInterval?: string
  readonly snapshotKeep?: string
  readonly keepBlocks?: string
  readonly eniAllow?: string
  readonly metrics?: string
}

/** `svcd start`. */
export const configure: Configure = (command, finish) => {
  const { env } = process
  example(command, 'svcd start --home ~/.svcd --abci tcp://127.0.0.1:26658')
    .option('--home <dir>', 'where the state is kept (SVCD_HOME; default ~/.svcd)', env['SVCD_HOME'])
    .option(
      '--abci <address>',
      'unix:///path or tcp://host:port for CometBFT (SVCD_ABCI; default <home>/abci.sock)',
      env['SVCD_ABCI'],
    )
    .option(
      '--os <name>',
      'take libraries for ubuntu or centos (SVCD_OS; default: that of this machine)',
      env['SVCD_OS'],
    )
    .option('--log-file <file>', 'write the log there (default: stderr)')
    .option(
      '--snapshot-interval <blocks>',
      'make a snapshot every so many blocks, 0: none (SVCD_SNAPSHOT_INTERVAL; default 1000)',
      env['SVCD_SNAPSHOT_INTERVAL'],
    )
    .option(
      '--snapshot-keep <count>',
      'how many snapshots are kept (SVCD_SNAPSHOT_KEEP; default 2)',
      env['SVCD_SNAPSHOT_KEEP'],
    )
    .option(
      '--keep-blocks <count>',
      'let CometBFT remove older blocks, 0: keep all (SVCD_KEEP_BLOCKS; default 0)',
      env['SVCD_KEEP_BLOCKS'],
    )
    .option(
      '--eni-allow <list>',
      'addresses and CIDR blocks that libraries may come from although they are not public, with commas ' +
        '(SVCD_ENI_ALLOW; default eni.allowAddresses of config/svcd.json)',
      env['SVCD_ENI_ALLOW'],
    )
    .option(
      '--metrics <host:port>',
      'serve Prometheus metrics there, best on loopback (SVCD_APP_METRICS; default: nowhere)',
      env['SVCD_APP_METRICS'],
    )
    .option('--accept-program-version <number>', 'this build is the successor that executes that program version')
    .action(async (flags: Flags) => {
      const { start } = await import('../start.ts')
      const { abciAddressOf } = await import('../devnet/home.ts')
      const home = homeOf(flags.home)
      closeHome(home, note)
      const { acceptProgramVersion: accepted, snapshotInterval, snapshotKeep, keepBlocks, metrics } = flags
      finish(
        await start({
          home,
          abci: flags.abci ?? abciAddressOf(home),
          os: flags.os,
          logFile: flags.logFile,
          snapshotInterval,
          snapshotKeep,
          keepBlocks,
          eniAllow: flags.eniAllow,
          metrics: metrics === undefined ? undefined : parseEndpoint(metrics, '--metrics'),
          acceptProgramVersion: accepted === undefined ? undefined : parseProgramVersion(accepted),
        }),
      )
    })
}
