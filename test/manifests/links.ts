import { execFileSync } from 'node:child_process'

/** Where a node lives: its addresses, and what can be done to its link. */
export interface Place {
  /** What runs a command line there. */
  readonly within: readonly string[]
  /** At which its peers find it. */
  readonly host: string
  /** At which this process reaches it, whatever happens to its link. */
  readonly control: string
  /** At which it reaches this process. */
  readonly controller: string
}

/** Places for nodes. */
export interface Links {
  readonly places: readonly Place[]
  /** At which nodes reach a proxy of this process over their links. */
  readonly hub: string
  /** Pulls the cable of a node, or plugs it in again. Undefined when they share the loopback interface. */
  readonly setLink?: (at: number, isUp: boolean) => void
  /** Lets so many percent of the packets get lost on their way to each node. Returns how many it lost before. */
  readonly setLoss?: (percent: number) => number
  /** Why there is no `setLoss`. */
  readonly whyNoLoss?: string
}

const LOOPBACK = '127.0.0.1'

/** Nodes side by side on this machine, as `svcd testnet` makes them. */
export const loopbackLinks = (count: number): Links => ({
  places: Array.from({ length: count }, () => ({
    within: [],
    host: LOOPBACK,
    control: LOOPBACK,
    controller: LOOPBACK,
  })),
  hub: LOOPBACK,
  whyNoLoss: 'the nodes share the loopback interface',
})

const nameOf = (at: number): string => `node${at}`
const messageOf = (error: unknown): string =>
  String((error as { stderr?: Buffer }).stderr ?? error)
    .trim()
    .split('\n')[0] ?? ''

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })

/** Runs commands of `ip`, one a line, in this namespace. */
const ip = (lines: readonly string[]): void =>
  void execFileSync('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n`, stdio: ['pipe', 'ignore', 'pipe'] })

const setLossOf = (at: number, percent: number): number => {
  const iptables = (...args: readonly string[]): string =>
    run('ip', 'netns', 'exec', nameOf(at), 'iptables', '-w', ...args)
  const lost = / *(\d+) +\d+ +DROP /.exec(iptables('-vnxL', 'INPUT'))?.[1] ?? '0'
  iptables('-F', 'INPUT')
  const chance = ['-m', 'statistic', '--mode', 'random', '--probability', String(percent / 100)]
  if (percent > 0) iptables('-A', 'INPUT', '-i', 'eth0', ...chance, '-j', 'DROP')
  return Number(lost)
}

/** Why packets cannot be lost here; undefined when they can. */
function lossFails(): string | undefined {
  try {
    setLossOf(0, 1)
    setLossOf(0, 0)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Makes a network namespace for each node in this one, which has to be the caller's own (`enterNamespace`). Each has two
 * links: eth0 to a bridge, over which the nodes meet, and eth1 to this process. They end with this process.
 */
export function openLinks(count: number): Links {
  const all = Array.from({ length: count }, (_, at) => at)
  ip([
    'link add name hub type bridge',
    'link set hub up',
    'addr add 10.77.0.254/24 dev hub',
    ...all.flatMap((at) => [
      `netns add ${nameOf(at)}`,
      `link add name link${at} type veth peer name eth0 netns ${nameOf(at)}`,
      `link set link${at} master hub up`,
      `link add name control${at} type veth peer name eth1 netns ${nameOf(at)}`,
      `addr add 10.78.${at}.1/24 dev control${at}`,
      `link set control${at} up`,
    ]),
  ])
  for (const at of all) {
    const inside = (...words: readonly string[]): string => run('ip', '-netns', nameOf(at), ...words)
    for (const device of ['lo', 'eth0', 'eth1']) inside('link', 'set', device, 'up')
    inside('addr', 'add', `10.77.0.${at + 1}/24`, 'dev', 'eth0')
    inside('addr', 'add', `10.78.${at}.2/24`, 'dev', 'eth1')
  }
  const why = lossFails()
  return {
    places: all.map((at) => ({
      within: ['ip', 'netns', 'exec', nameOf(at)],
      host: `10.77.0.${at + 1}`,
      control: `10.78.${at}.2`,
      controller: `10.78.${at}.1`,
    })),
    hub: '10.77.0.254',
    setLink: (at, isUp) => void run('ip', 'link', 'set', `link${at}`, isUp ? 'up' : 'down'),
    ...(why === undefined
      ? { setLoss: (percent: number) => all.reduce((lost, at) => lost + setLossOf(at, percent), 0) }
      : { whyNoLoss: `iptables -m statistic does not work: ${why}` }),
  }
}

/** Begins a shell in network and mount namespaces of its own, with `ip netns` to itself. */
const UNSHARE = ['unshare', '--net', '--mount', '--', 'sh', '-c']
const PREPARE = 'mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up'

/** Why this process can have no network namespaces, in one sentence; undefined when it can. */
export function whyNoNamespaces(): string | undefined {
  const needs = 'disconnecting nodes needs Linux, root, and ip and unshare of Debian’s iproute2 and util-linux'
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return needs
  try {
    const [program = '', ...args] = UNSHARE
    const trial = 'ip netns add trial && ip link add name trial0 type veth peer name trial1 netns trial'
    run(program, ...args, `${PREPARE} && ${trial}`)
    return undefined
  } catch (error) {
    return `${needs}: ${messageOf(error)}`
  }
}

/** Replaces this process by the same command line in namespaces of its own, which are gone when it ends. */
export function enterNamespace(env: NodeJS.ProcessEnv): never {
  const script = `${PREPARE} && exec "$0" "$@"`
  const words = [...UNSHARE, script, process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const unshare = execFileSync('sh', ['-c', 'command -v unshare'], { encoding: 'utf8' }).trim()
  if (process.execve === undefined) throw new Error('this needs Node 22.15 or newer')
  return process.execve(unshare, words, { ...process.env, ...env } as Record<string, string>)
}
