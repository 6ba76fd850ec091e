import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { PORTS } from '../../base/ports.ts'
import { VERSION } from '../../base/version.ts'
import { reasonOf } from '../../comet/errors.ts'
import { COMETBFT_LINES, defaultCometCache } from '../../comet/find.ts'
import { openNodeRpc } from '../../comet/rpc.ts'
import { listKeyFiles, whyOpen } from '../../keys/files.ts'
import { examineBlocks, examineDisk, examineState, type Finding } from '../doctorChecks.ts'
import { Failed } from '../errors.ts'
import { chainIdOf, statePathOf } from '../homes.ts'
import { type CommonFlags, type Configure, example, homeFrom, nodeOption, nodeUrl, withCommon } from '../options.ts'
import { printAnswer, clean, say, styled, formatTable } from '../output.ts'
import { machineOs, readConfig } from '../settings.ts'

function versionOf(program: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(program, ['version'], { timeout: 10_000 }, (error, stdout) =>
      done(error === null ? stdout.trim() : undefined),
    )
  })
}

async function versions(): Promise<readonly Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const program = process.env['SVCD_COMETBFT'] ?? 'cometbft'
  const comet = (await versionOf(program)) ?? (await versionOf(join(defaultCometCache(), 'cometbft')))
  const served = comet !== undefined && COMETBFT_LINES.some((line) => comet.replace(/^v/, '').startsWith(`${line}.`))
  return [
    { check: 'svcd', verdict: 'ok', found: VERSION },
    {
      check: 'Node',
      verdict: major > 22 || (major === 22 && minor >= 14) ? 'ok' : 'bad',
      found: `${process.versions.node} (22.14 or newer is needed)`,
    },
    comet === undefined
      ? {
          check: 'CometBFT',
          verdict: 'note',
          found: `there is no ${program}; svcd devnet builds it, or set SVCD_COMETBFT to its path`,
        }
      : {
          check: 'CometBFT',
          verdict: served ? 'ok' : 'bad',
          found: `${comet} (supported: ${COMETBFT_LINES.join(', ')})`,
        },
  ]
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 1000 })
    const end = (taken: boolean): void => {
      socket.destroy()
      done(taken)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })
}

/** The ports in a home's config.toml; without one, those of a new home. */
function portsOf(home: string): readonly (readonly [what: string, port: number])[] {
  const path = join(home, 'config', 'config.toml')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const { rpc, p2p } = parse(text) as {
    readonly rpc?: { readonly laddr?: unknown }
    readonly p2p?: { readonly laddr?: unknown }
  }
  const portIn = (address: unknown, fallback: number): number =>
    Number(/:(\d+)$/.exec(String(address))?.[1] ?? fallback)
  return [
    ['gateway', PORTS.gateway],
    ['CometBFT RPC', portIn(rpc?.laddr, PORTS.rpc)],
    ['CometBFT p2p', portIn(p2p?.laddr, PORTS.p2p)],
  ]
}

async function ports(home: string): Promise<Finding> {
  try {
    const taken = await Promise.all(
      portsOf(home).map(async ([what, port]) => `${what} ${port} ${(await isTaken(port)) ? 'in use' : 'free'}`),
    )
    return { check: 'ports', verdict: 'ok', found: taken.join(', ') }
  } catch (error) {
    return { check: 'ports', verdict: 'bad', found: `${join(home, 'config', 'config.toml')}: ${reasonOf(error)}` }
  }
}

function secretFile(check: string, path: string): readonly Finding[] {
  if (!existsSync(path)) return []
  const found = statSync(path)
  const open = whyOpen(path, found)
  return [
    open === undefined
      ? { check, verdict: 'ok', found: `${path}, mode 0${(found.mode & 0o777).toString(8)}` }
      : { check, verdict: 'bad', found: open },
  ]
}

function homeFindings(home: string): readonly Finding[] {
  if (!existsSync(home))
    return [
      { check: 'home', verdict: 'note', found: `${home} does not exist yet; svcd init or svcd devnet creates it` },
    ]
  const findings: Finding[] = []
  try {
    accessSync(home, constants.R_OK | constants.W_OK)
    const chainId = chainIdOf(home)
    findings.push({
      check: 'home',
      verdict: 'ok',
      found: `${home}, ${chainId === undefined ? 'no genesis file yet' : `chain ${chainId}`}`,
    })
    const os = readConfig(home).eni?.os ?? machineOs()
    findings.push(
      os === undefined
        ? {
            check: 'libraries',
            verdict: 'note',
            found: 'this machine runs neither ubuntu nor centos, and eni.os is not set; svcd init sets it',
          }
        : { check: 'libraries', verdict: 'ok', found: `for ${os}` },
    )
  } catch (error) {
    findings.push({ check: 'home', verdict: 'bad', found: reasonOf(error) })
  }
  const keys = listKeyFiles(join(home, 'keystore'))
  return [
    ...findings,
    ...secretFile('validator key', join(home, 'config', 'priv_validator_key.json')),
    ...secretFile('node key', join(home, 'config', 'node_key.json')),
    ...keys.flatMap((key): Finding[] =>
      'problem' in key ? [{ check: 'key file', verdict: 'bad', found: key.problem }] : [],
    ),
    { check: 'key files', verdict: 'ok', found: String(keys.length) },
  ]
}

/** How far the time of the newest block may be ahead of this clock, in ms. */
const AHEAD_MS_MAX = 2000

async function nodeFindings(home: string, url: string): Promise<readonly Finding[]> {
  const rpc = openNodeRpc(url, { timeoutMs: 3000 })
  try {
    const status = await rpc.status()
    const { chainId, latestHeight, latestTimeMs, catchingUp, version } = status
    const aheadMs = latestTimeMs - Date.now()
    const ageS = Math.abs(aheadMs / 1000).toFixed(1)
    const more = `${await rpc.peers()} peers${catchingUp ? ', catching up' : ''}`
    return [
      {
        check: 'node',
        verdict: catchingUp ? 'note' : 'ok',
        found: `${url}: CometBFT ${version}, chain ${chainId}, height ${latestHeight}, ${more}`,
      },
      ...(await examineBlocks(rpc, status, home)),
      latestHeight > 0 && aheadMs > AHEAD_MS_MAX
        ? {
            check: 'clock',
            verdict: 'bad',
            found: `the newest block is ${ageS} s ahead of this machine's clock; set the clock (NTP)`,
          }
        : {
            check: 'clock',
            verdict: 'ok',
            found: `${new Date().toISOString()}, ${ageS} s from the time of the newest block`,
          },
    ]
  } catch (error) {
    return [
      { check: 'node', verdict: 'note', found: reasonOf(error) },
      {
        check: 'clock',
        verdict: 'note',
        found: `${new Date().toISOString()}: not compared, because the node does not answer`,
      },
    ]
  } finally {
    rpc.close()
  }
}

/**
 * Checks versions, ports, the home, its disk, its state and the node at `url`. It changes nothing, and reports problems
 * instead of throwing.
 */
export async function examine(home: string, url: string): Promise<readonly Finding[]> {
  const [program, port, node] = await Promise.all([versions(), ports(home), nodeFindings(home, url)])
  return [...program, port, ...homeFindings(home), ...examineDisk(home), ...examineState(statePathOf(home)), ...node]
}

/** Configures `svcd doctor`. */
export const configure: Configure = (command) => {
  withCommon(example(command, 'svcd doctor'))
    .addOption(nodeOption())
    .action(async (flags: CommonFlags & { readonly node?: string }) => {
      const findings = await examine(homeFrom(flags), nodeUrl(flags))
      const bad = findings.filter(({ verdict }) => verdict === 'bad').length
      if (bad > 0 && flags.json === true) throw new Failed(`${bad} checks failed`, findings)
      const colour = { ok: 'green', note: 'yellow', bad: 'red' } as const
      const rows = findings.map(({ verdict, check, found }) => [verdict, check, clean(found)])
      printAnswer(flags.json, findings, () =>
        formatTable(['', 'check', 'found'], rows).replace(/^(?:ok|note|bad)(?= )/gm, (verdict) =>
          styled(colour[verdict as keyof typeof colour], verdict),
        ),
      )
      if (bad > 0) throw new Failed(`${bad} ${bad === 1 ? 'check' : 'checks'} failed`)
      if (flags.json !== true) say('no problems were found')
    })
}
