import { mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toHex } from '../../base/bytes.ts'
import { tryPort } from '../../comet/process.ts'
import { PUBLIC_MNEMONIC, seedsOfMnemonic } from '../../keys/mnemonic.ts'
import { signerOfSeed } from '../../tx/sign.ts'
import { Svc } from '../../client/index.ts'
import { PORTS_OF_ONE } from '../../node/homes.ts'
import { spawnSvcd } from './child.ts'
import { type Order, sendOrder } from './control.ts'

/**
 * How a devnet is started. What is left out has the default of the flag of `svcd devnet` with that name, except for
 * `blockTime`.
 */
export interface DevnetOptions {
  /** Such as `300ms`. Default `0`: a block is made when there is a transaction, and on demand. */
  readonly blockTime?: string
  /** The number of funded accounts, 1 to 1,000. */
  readonly accounts?: number
  /** Of each account, such as `1000token`. */
  readonly balance?: string
  /** Of the accounts. With one that is not public the gateway signs for nobody, and the callers sign themselves. */
  readonly mnemonic?: string
  readonly chainId?: string
  /** System parameters that differ from their defaults. */
  readonly params?: Readonly<Record<string, string | number>>
  /** Lets unbonding and proposals end after 20 blocks. */
  readonly fast?: boolean
  /** The path of a genesis file to start from. */
  readonly genesis?: string
  /** The path of a file that holds the state: loaded if it exists, and saved by `close`. */
  readonly state?: string
  /** 1 to 10. More than one needs a `blockTime`. */
  readonly validators?: number
  /** Origins whose pages may call the gateway. */
  readonly allowOrigins?: readonly string[]
  /** Where the devnet lives. Default: a temporary folder, which `close` removes. A given one stays. */
  readonly home?: string
  /** The port of the gateway on 127.0.0.1. Default: a free one. */
  readonly port?: number
}

/** A funded account of a devnet. */
export interface DevnetAccount {
  readonly address: string
  /** The 32-byte ed25519 seed in hex, as `accounts.add` of the client takes it. */
  readonly privateKey: string
}

/** A running devnet. */
export interface Devnet {
  /** The URL of the gateway, as `new Svc(url)` takes it. */
  readonly url: string
  /** The URL of CometBFT's RPC. */
  readonly rpcUrl: string
  readonly chainId: string
  /** In the order of the mnemonic. The first one owns the validator. */
  readonly accounts: readonly [DevnetAccount, ...DevnetAccount[]]
  readonly mnemonic: string
  readonly home: string
  /** Makes blocks at once, by default 1; resolves with the height of the head. Rejects unless `blockTime` is `0`. */
  readonly mine: (blocks?: number) => Promise<number>
  /** Copies the chain; resolves with the number of the snapshot. At most 10 are kept. Takes a few seconds. */
  readonly snapshot: () => Promise<number>
  /** Takes the chain back to a snapshot, which stays; those made after it are removed. Takes a few seconds. */
  readonly revert: (snapshot: number) => Promise<void>
  /** Stops the devnet and resolves when none of its processes is left. May be repeated. */
  readonly close: () => Promise<void>
}

/** How often other ports are tried when another program takes one in between. */
const TRIES = 3

const flagsOf = (options: DevnetOptions, home: string, ports: readonly number[]): readonly string[] => {
  const { params = {}, fast = false, allowOrigins = [], accounts, validators } = options
  const [gateway, rpc, p2p] = ports.map((port) => `127.0.0.1:${port}`)
  const given: Readonly<Record<string, string | undefined>> = {
    '--home': home,
    '--gateway': gateway,
    '--rpc': rpc,
    '--p2p': p2p,
    '--block-time': options.blockTime ?? '0',
    '--accounts': accounts?.toString(),
    '--validators': validators?.toString(),
    '--balance': options.balance,
    '--chain-id': options.chainId,
    '--genesis': options.genesis,
    '--state': options.state,
  }
  return [
    ...Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...Object.entries(params).flatMap(([name, value]) => ['--param', `${name}=${value}`]),
    ...allowOrigins.flatMap((origin) => ['--allow-origin', origin]),
    ...(fast ? ['--fast'] : []),
  ]
}

/** The devnet must not take a setting from the variables of the test runner. */
const environment = (mnemonic: string | undefined): NodeJS.ProcessEnv => {
  const { SVCD_COMETBFT, ...all } = process.env
  const others = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('SVCD_')))
  return {
    ...others,
    NODE_OPTIONS: '',
    ...(SVCD_COMETBFT === undefined ? {} : { SVCD_COMETBFT }),
    ...(mnemonic === undefined ? {} : { SVCD_MNEMONIC: mnemonic }),
  }
}

/** What the devnet tells when it is ready. */
export interface Ready {
  readonly url: string
  readonly chainId: string
  readonly accounts: number
}

/** Starts `svcd devnet` and waits until it is ready. It ends with this process, in whatever way that ends. */
async function launch(flags: readonly string[], mnemonic: string | undefined) {
  const { child, output, started, ended } = spawnSvcd(['devnet', ...flags], environment(mnemonic))
  const message = (await started) as { readonly ready: Ready } | undefined
  if (message === undefined) {
    const line = output().trim().split('\n').at(-1) ?? ''
    throw new Error(`the devnet did not start: ${line.replace(/^svcd: /, '')}`)
  }
  // A test runner must be able to end without close().
  child.unref()
  child.channel?.unref()
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
  const stop = async (): Promise<void> => {
    child.ref()
    child.kill('SIGTERM')
    await ended
  }
  return { ...message.ready, stop }
}

async function launchSomewhere(options: DevnetOptions, home: string) {
  for (let left = TRIES; ; left--) {
    const free = await Promise.all([0, 0, 0].map((port) => tryPort('127.0.0.1', port)))
    const ports = [options.port ?? free[0], free[1], free[2]] as number[]
    try {
      return {
        ...(await launch(flagsOf(options, home, ports), options.mnemonic)),
        rpcUrl: `http://127.0.0.1:${ports[1]}`,
      }
    } catch (error) {
      // Each further validator has its ports PORTS_OF_ONE above.
      const all = ports.flatMap((port) =>
        Array.from({ length: options.validators ?? 1 }, (_, index) => port + PORTS_OF_ONE * index),
      )
      const areFree = () => Promise.all(all.map((port) => tryPort('127.0.0.1', port))).then(Boolean, () => false)
      if (left === 1 || options.port !== undefined || (await areFree())) throw error
    }
  }
}

/** How many blocks one call mines, so that a call ends in time on a slow machine too. */
const MINED_AT_ONCE = 500

async function mine(url: string, blocks: number): Promise<number> {
  const svc = new Svc(url)
  let left = blocks
  for (; left > MINED_AT_ONCE; left -= MINED_AT_ONCE) await svc.async.mine({ blocks: MINED_AT_ONCE })
  return svc.async.mine({ blocks: left })
}

/**
 * Starts a devnet for tests: a validator with its application and a gateway, each a process of its own, on free ports of
 * 127.0.0.1 and in a temporary folder. They end with `close`, and also when this process ends. Rejects with an Error
 * that says why when it does not start, for example because there is no CometBFT.
 * @example
 * const devnet = await startDevnet({ fast: true })
 * const svc = new Svc(devnet.url)
 * await devnet.close()
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { mnemonic = PUBLIC_MNEMONIC } = options
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'svcd-devnet-'))
  const remove = (): void => {
    if (options.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  const running = await launchSomewhere(options, home).catch((error: unknown) => {
    remove()
    throw error
  })
  const { url, rpcUrl, chainId, accounts, stop } = running
  const order = async (one: Order): Promise<number> => (await sendOrder(home, one)).snapshot
  return {
    url,
    rpcUrl,
    chainId,
    accounts: seedsOfMnemonic(mnemonic, accounts).map((seed) => ({
      address: signerOfSeed(seed).address,
      privateKey: toHex(seed),
    })) as readonly DevnetAccount[] as Devnet['accounts'],
    mnemonic,
    home,
    mine: (blocks = 1) => mine(url, blocks),
    snapshot: () => order({ do: 'snapshot' }),
    revert: async (snapshot) => void (await order({ do: 'revert', id: snapshot })),
    close: async () => {
      await stop()
      remove()
    },
  }
}
