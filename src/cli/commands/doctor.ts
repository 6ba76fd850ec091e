import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopback } from '../../base/loopback.ts'
import { PORTS } from '../../base/ports.ts'
import { VERSION } from '../../base/version.ts'
import { reasonOf } from '../../comet/errors.ts'
import { fromEnv, isSupported, nearPrograms, SUPPORTED_COMETBFT, versionOf } from '../../comet/find.ts'
import {
  hasRemoteSigner,
  homeFiles,
  listenAddresses,
  readCometConfig,
  readNodeId,
  readValidatorKey,
  signedHeight,
  signingFiles,
  whyUnsafeToSign,
} from '../../comet/home.ts'
import { tryConnection } from '../../comet/process.ts'
import { openNodeRpc } from '../../comet/rpc.ts'
import { listKeyFiles, whyOpen } from '../../keys/files.ts'
import {
  AHEAD_MS_MAX,
  examineBlocks,
  examined,
  examineDisk,
  examineProgram,
  examineSigning,
  examineState,
  type Finding,
  stallCauses,
} from '../doctorChecks.ts'
import { Failed, UserError } from '../../node/errors.ts'
import { gatewayFrom } from '../gatewayClient.ts'
import { chainIdOf, statePathOf } from '../../node/homes.ts'
import { abciAddressOf } from '../../node/paths.ts'
import { readState } from '../../node/stateFile.ts'
import {
  commonOptions,
  type Configure,
  type FlagsOf,
  type GatewayFlags,
  gatewayOptions,
  gatewayUrl,
  nodeOfHome,
  nodeOption,
  nodeUrl,
  pageFrom,
  programVersionOption,
  withOptions,
} from '../options.ts'
import { formatTable, printAnswer, say, styled } from '../output.ts'
import { printable } from '../../base/printable.ts'
import { allowedAddresses } from '../../node/libraries.ts'
import { configuredOs, machineOs, readConfig } from '../../node/settings.ts'
import { chooseRetention } from './snapshot.ts'

const finding = (check: string, verdict: Finding['verdict'], found: string): Finding => ({ check, verdict, found })

/** What a check may find: nothing, one thing or several. */
type Findings = Finding | readonly Finding[]

/** The versions of the programs. An older Node does not come here: svcd.js refuses it. */
const versions = async (): Promise<readonly Finding[]> => [
  finding('svcd', 'ok', VERSION),
  finding('Node', 'ok', `${process.versions.node} (22.14 or newer is needed)`),
  await examineCometBft(process.env['SVCD_COMETBFT'] ?? '', await nearPrograms(process.env)),
]

/** Checks the CometBFT that svcd would run: `named` where that is not empty, else the first of `near` that is supported. */
export async function examineCometBft(named: string, near: readonly string[]): Promise<Finding> {
  const check = 'CometBFT'
  if (named !== '')
    return fromEnv(named, process.env).then(
      ({ version }) => finding(check, 'ok', `${version} (supported: ${SUPPORTED_COMETBFT})`),
      (error: unknown) => finding(check, 'bad', reasonOf(error)),
    )
  let last: string | undefined
  for (const path of near) {
    last = await versionOf(path, process.env).catch(() => last)
    if (last !== undefined && isSupported(last)) break
  }
  if (last === undefined)
    return finding(check, 'note', 'there is none on PATH; svcd devnet builds it, or set SVCD_COMETBFT to its path')
  const supported = `(supported: ${SUPPORTED_COMETBFT})`
  return isSupported(last)
    ? finding(check, 'ok', `${last} ${supported}`)
    : finding(check, 'note', `${last} on PATH is passed over ${supported}; svcd looks further, and builds one`)
}

/** The ports of a node: those in its home's files; for what these do not say, those of a new home. */
function portsOf(home: string): readonly (readonly [what: string, port: number])[] {
  const { rpc, p2p } = existsSync(homeFiles(home).config) ? listenAddresses(home) : {}
  const { protocol, hostname, port } = new URL(gatewayUrl({ home }))
  return [
    // A gateway elsewhere takes no port of this machine.
    ...(isLoopback(hostname) ? [['gateway', Number(port || (protocol === 'http:' ? 80 : 443))] as const] : []),
    ['CometBFT RPC', rpc?.port ?? PORTS.rpc],
    ['CometBFT p2p', p2p?.port ?? PORTS.p2p],
  ]
}

async function ports(home: string): Promise<Finding> {
  const all = examined('ports', () => portsOf(home))
  if ('verdict' in all) return all
  const taken = await Promise.all(
    all.map(async ([what, port]) => {
      const isFree = (await tryConnection('127.0.0.1', port)) !== undefined
      return `${what} ${port} ${isFree ? 'free' : 'in use'}`
    }),
  )
  return finding('ports', 'ok', taken.join(', '))
}

/** Checks a key file of CometBFT: that nobody else can read it, and that it can be read. Finds nothing where there is none. */
const secretFile = (check: string, path: string, read: () => unknown): Findings =>
  examined(check, () => {
    if (!existsSync(path)) return []
    const found = statSync(path)
    const open = whyOpen(path, found)
    if (open !== undefined) return finding(check, 'bad', open)
    read()
    return finding(check, 'ok', `${path}, mode 0${(found.mode & 0o777).toString(8)}`)
  })

/** svcd start refuses a key without its signing state, and the state without its key. Finds nothing where there is neither. */
const signingState = (home: string): Findings =>
  examined('signing state', () => {
    const why = whyUnsafeToSign(home)
    if (why !== undefined) return finding('signing state', 'bad', why)
    if (!existsSync(signingFiles(home).validatorKey)) return []
    return finding('signing state', 'ok', `the key signed last at height ${signedHeight(home)}`)
  })

/** The key that signs blocks and what it has signed. CometBFT reads both also where a remote signer signs instead. */
function validatorFindings(home: string): readonly Finding[] {
  // Of a config.toml that cannot be read other findings tell.
  const files = examined('', () => signingFiles(home))
  if (!('validatorKey' in files)) return []
  const own = [secretFile('validator key', files.validatorKey, () => readValidatorKey(home)), signingState(home)].flat()
  if (!hasRemoteSigner(home)) return own
  const { config } = homeFiles(home)
  const found = `a remote signer signs, by priv_validator_laddr in ${config}. The key and the signing state of this home are not used`
  return [...own.filter(({ verdict }) => verdict === 'bad'), finding('validator key', 'note', found)]
}

/** Settings of config/svcd.json that `svcd start` or `svcd gateway` refuses. `ports` and `node` check its addresses. */
const settings = (home: string): Findings =>
  examined('settings', () => {
    chooseRetention(home, {})
    allowedAddresses(home, undefined)
    configuredOs(home)
    pageFrom({ home, page: true })
    return []
  })

const homeAccess = (home: string): Findings =>
  examined('home', () => {
    accessSync(home, constants.R_OK | constants.W_OK)
    const chainId = chainIdOf(home)
    const os = readConfig(home).eni?.os ?? machineOs()
    return [
      finding('home', 'ok', `${home}, ${chainId === undefined ? 'no genesis file yet' : `chain ${chainId}`}`),
      os === undefined
        ? finding(
            'libraries',
            'note',
            'this machine runs neither ubuntu nor centos, and eni.os is not set; svcd init sets it',
          )
        : finding('libraries', 'ok', `for ${os}`),
    ]
  })

/**
 * CometBFT has to keep the mempool: with `app`, which asks the application for its own, releases below 0.40 end
 * themselves when they reach the application by a socket, and svcd has none; with `nop` no transaction comes anywhere.
 */
const mempoolFinding = (home: string): Findings =>
  examined('mempool', () => {
    const path = homeFiles(home).config
    const { type = 'flood' } = existsSync(path) ? (readCometConfig(home).mempool ?? {}) : {}
    if (type === 'flood') return []
    return finding('mempool', 'bad', `mempool.type in ${path}: expected "flood", got "${type}"; svcd keeps no mempool`)
  })

/** svcd init writes the place of the socket as a whole path, which does not lead into a home that was moved or copied. */
function socketFinding(home: string): Findings {
  const path = homeFiles(home).config
  if (!existsSync(path)) return []
  try {
    const asked = String(readCometConfig(home).proxy_app ?? '')
    if (!asked.startsWith('unix:///')) return []
    const own = abciAddressOf(home)
    if (asked === own) return []
    const found = `proxy_app in ${path} is ${asked}, but svcd start listens at ${own} if no --abci names another place`
    return finding('application', 'note', `${found}. If the home was moved, correct proxy_app`)
  } catch (error) {
    // `mempool` tells what is wrong with the file.
    return error instanceof UserError ? finding('application', 'note', error.message) : []
  }
}

/** `svcd start` refuses the state of another chain than the genesis file's. */
function chainFinding(home: string): Findings {
  const path = statePathOf(home)
  try {
    const own = chainIdOf(home)
    const held = own !== undefined && existsSync(path) ? readState(path, (state) => state.chainId()) : undefined
    if (held === undefined || held === own) return []
    const found = `${path} is the state of chain ${held}, but ${homeFiles(home).genesis} is of ${own}`
    return finding('chain', 'bad', `${found}: put the genesis file of ${held} back, or choose another home for ${own}`)
  } catch {
    return [] // `home` and `SQLite` tell what is wrong with the files.
  }
}

const keyFindings = (keys: ReturnType<typeof listKeyFiles>): readonly Finding[] => [
  ...keys.flatMap((key) => ('problem' in key ? finding('key file', 'bad', key.problem) : [])),
  finding('key files', 'ok', String(keys.length)),
]

function homeFindings(home: string): readonly Finding[] {
  if (!existsSync(home))
    return [finding('home', 'bad', `${home} does not exist: name another with --home DIR, or create it with svcd init`)]
  const files = homeFiles(home)
  const keys = examined('key files', () => listKeyFiles(join(home, 'keystore')))
  return [
    homeAccess(home),
    settings(home),
    mempoolFinding(home),
    socketFinding(home),
    chainFinding(home),
    validatorFindings(home),
    secretFile('node key', files.nodeKey, () => readNodeId(home)),
    'verdict' in keys ? keys : keyFindings(keys),
  ].flat()
}

const options = [...commonOptions, nodeOption, programVersionOption] as const

type Flags = FlagsOf<typeof options>

async function nodeFindings(flags: Flags): Promise<readonly Finding[]> {
  const { home } = flags
  const url = examined('node', () => nodeUrl(flags))
  if (typeof url !== 'string') return [url]
  // Of a config.toml that cannot be read other findings tell.
  const isOwn = url === examined('node', () => nodeOfHome(home))
  const rpc = openNodeRpc(url, { timeoutMs: 3000 })
  try {
    const status = await rpc.status()
    const { chainId, latestHeight, latestTimeMs, catchingUp, version } = status
    const aheadMs = latestTimeMs - Date.now()
    const ageS = Math.abs(aheadMs / 1000).toFixed(1)
    const isAhead = latestHeight > 0 && aheadMs > AHEAD_MS_MAX
    const more = `${await rpc.peers()} peers${catchingUp ? ', catching up' : ''}`
    const running = isSupported(version) ? version : `${version} (supported: ${SUPPORTED_COMETBFT})`
    const node = `${url}: CometBFT ${running}, chain ${chainId}, height ${latestHeight}, ${more}`
    return [
      finding('node', !isSupported(version) ? 'bad' : catchingUp ? 'note' : 'ok', node),
      ...(await examineBlocks(rpc, status, home)),
      ...(isOwn ? await examineSigning(home, rpc) : []),
      isAhead
        ? finding('clock', 'bad', `the newest block is ${ageS} s ahead of this machine's clock; set the clock (NTP)`)
        : finding('clock', 'ok', `${new Date().toISOString()}, ${ageS} s from the time of the newest block`),
    ]
  } catch (error) {
    const clock = `${new Date().toISOString()}: not compared, because the node does not answer`
    return [finding('node', 'note', reasonOf(error)), finding('clock', 'note', clock)]
  } finally {
    rpc.close()
  }
}

/**
 * Checks versions, ports, the home, its disk, its state and the node. It changes nothing, and reports problems instead of
 * throwing.
 */
export async function examine(flags: Flags): Promise<readonly Finding[]> {
  const { home, acceptProgramVersion } = flags
  return (
    await Promise.all([
      versions(),
      ports(home),
      homeFindings(home),
      examineDisk(home),
      existsSync(home) ? examineProgram(home, acceptProgramVersion) : [],
      examineState(statePathOf(home)),
      nodeFindings(flags),
    ])
  ).flat()
}

const COLOURS = { ok: 'green', note: 'yellow', bad: 'red' } as const

async function run(flags: Flags): Promise<void> {
  const findings = await examine(flags)
  const bad = findings.filter(({ verdict }) => verdict === 'bad').length
  const failed = new Failed(`${bad} ${bad === 1 ? 'check' : 'checks'} failed`, findings)
  if (bad > 0 && flags.json === true) throw failed
  const rows = findings.map(({ verdict, check, found }) => [verdict, check, printable(found)])
  printAnswer(flags.json, findings, () =>
    formatTable(['', 'check', 'found'], rows).replace(/^(?:ok|note|bad)(?= )/gm, (verdict) =>
      styled(COLOURS[verdict as Finding['verdict']], verdict),
    ),
  )
  if (bad > 0) throw failed
  if (flags.json !== true) say('no problems were found')
}

/** Configures `svcd doctor`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd doctor', options).action(run)
}

/** Prints the status. When the gateway is not ready, it adds the cause, if a home of this chain shows it. */
async function printStatus(flags: GatewayFlags): Promise<void> {
  const gateway = gatewayFrom(flags)
  const status = (await gateway.call('svc_status')) as { readonly chain_id: string }
  const readiness = await gateway.readiness()
  const isOurs = readiness.ready === false && chainIdOf(flags.home) === status.chain_id
  const cause = isOurs ? stallCauses(flags.home) : ''
  printAnswer(flags.json, { ...status, gateway: gateway.url, ...readiness, ...(cause === '' ? {} : { cause }) })
}

/** Configures `svcd status`. */
export const configureStatus: Configure = (command) => {
  withOptions(command, 'svcd status', gatewayOptions).action(printStatus)
}
