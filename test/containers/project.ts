import assert from 'node:assert/strict'
import { until } from '../../bench/until.ts'
import { Svc } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { type Engine, run } from './engine.ts'

/** How long anything here is waited for, in ms. */
export const WAIT_MS_MAX = 180_000

/** The name of the image that every compose file runs. */
export const IMAGE = 'svcd'

/** The first public account, which every network of these tests has. */
export const OWNER = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'

/** An account that holds nothing until a test pays it. */
export const OTHER = `0x${'5e'.repeat(20)}`

/** What has been composed: `services` are those that have a health check. */
export interface Project {
  readonly services: readonly string[]
  readonly gateway: string
  readonly rpc: string
  /** Runs the compose program; returns its stdout. Throws when it fails. */
  readonly compose: (...args: readonly string[]) => string
  /** What `docker inspect` says of every container by its service, also of those that ended. */
  readonly inspect: (format: string) => ReadonlyMap<string, string>
  /** Builds an image that differs from the present one by a label and takes its name. Returns its id. */
  readonly buildNextImage: () => string
}

/** Which files are composed, on which ports. */
export interface Composed {
  readonly files: readonly string[]
  readonly services: readonly string[]
  readonly gatewayPort: number
  readonly rpcPort: number
}

/** A project of its own name, so that nothing that is up is touched. */
export function makeProject(
  { compose: program }: Engine,
  { files, services, gatewayPort, rpcPort }: Composed,
): Project {
  const env = {
    ...process.env,
    SVCD_GATEWAY_PORT: String(gatewayPort),
    SVCD_RPC_PORT: String(rpcPort),
    COMPOSE_PROJECT_NAME: `svcdtest${process.pid}`,
  }
  const must = (command: readonly string[], input?: string): string => {
    const { status, stdout, stderr } = run(command, env, input)
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stderr.slice(-2000)}`)
    return stdout.trim()
  }
  const compose = (...args: readonly string[]): string =>
    must([...program, ...files.flatMap((file) => ['-f', file]), ...args])
  return {
    services,
    compose,
    gateway: `http://127.0.0.1:${gatewayPort}`,
    rpc: `http://127.0.0.1:${rpcPort}`,
    inspect: (format) => {
      const label = '{{index .Config.Labels "com.docker.compose.service"}}'
      const lines = must([
        'docker',
        'inspect',
        '--format',
        `${label} ${format}`,
        ...compose('ps', '-a', '-q').split('\n'),
      ]).split('\n')
      return new Map(
        lines.map((line) => {
          const [service = '', ...said] = line.split(' ')
          return [service, said.join(' ')]
        }),
      )
    },
    buildNextImage: () => {
      const label = `LABEL svcd.test=${Date.now()}`
      return must(['docker', 'build', '-q', '-t', IMAGE, '-'], `FROM ${IMAGE}\n${label}\n`)
    },
  }
}

/** One JSON-RPC call. Throws with the error's message. */
export async function call<T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

export const heightOf = ({ gateway }: Project): Promise<number> => call<number>(gateway, 'svc_blockNumber')

export async function untilHeight(project: Project, wanted: number, limitMs = WAIT_MS_MAX): Promise<void> {
  let height = 0
  const isThere = async (): Promise<boolean> => {
    height = await heightOf(project).catch(() => 0)
    return height >= wanted
  }
  await until(isThere, limitMs, () => `height ${height}, not ${wanted}, after ${limitMs / 1000} s`, 250)
}

/** Waits until every service is healthy, the others have ended, and the head is at or above `wanted`. */
export async function untilHealthy(project: Project, wanted: number): Promise<void> {
  const wantedOf = (service: string): string => (project.services.includes(service) ? 'healthy' : 'exited')
  let ill: readonly string[] = []
  const areHealthy = (): boolean => {
    const states = project.inspect('{{if .State.Health}}{{.State.Health.Status}}{{else}}{{.State.Status}}{{end}}')
    ill = [...new Set([...project.services, ...states.keys()])]
      .filter((service) => states.get(service) !== wantedOf(service))
      .map((service) => `${service} ${states.get(service)}`)
    return ill.length === 0
  }
  await until(areHealthy, WAIT_MS_MAX, () => `not healthy in time: ${ill.join(', ')}`, 500)
  await untilHeight(project, wanted)
}

/** The hash of the chain's first block, which differs between any two chains. */
async function firstBlockHash({ rpc }: Project): Promise<string> {
  const { result } = (await (await fetch(`${rpc}/block?height=1`)).json()) as { result: { block_id: { hash: string } } }
  return result.block_id.hash
}

/**
 * Runs `change`, after which every service is healthy, no other one failed, and the same chain goes on with what
 * `transferFromOutside` brought. Returns a height that is new.
 */
export async function keepsChain(project: Project, change: () => void): Promise<number> {
  const wanted = (await heightOf(project)) + 2
  const chain = await firstBlockHash(project)
  change()
  await untilHealthy(project, wanted)
  for (const [service, status] of project.inspect('{{.State.Status}} {{.State.ExitCode}}'))
    assert.equal(status, project.services.includes(service) ? 'running 0' : 'exited 0', service)
  assert.equal(await firstBlockHash(project), chain)
  assert.equal(await call<string>(project.gateway, 'svc_getBalance', [OTHER]), '7')
  return wanted
}

/** Takes the project down and up again, as keepsChain says. */
export const downAndUp = (project: Project): Promise<number> =>
  keepsChain(project, () => {
    project.compose('down')
    project.compose('up', '-d')
  })

/** One thing that holds of a project; each goes on from the one before. */
export type Steps = Readonly<Record<string, (project: Project) => Promise<void>>>

/** The containers of the services that go on running, by service. */
const containersOf = ({ inspect, services }: Project): readonly (string | undefined)[] => {
  const ids = inspect('{{.Id}}')
  return services.map((service) => ids.get(service))
}

/** What may be done to a project that is up: each keeps the chain. */
export const keptSteps: Steps = {
  'up again leaves every service as it is': async (project) => {
    const before = containersOf(project)
    await keepsChain(project, () => void project.compose('up', '-d'))
    assert.deepEqual(containersOf(project), before)
  },
  'up starts the one service that was stopped': async (project) => {
    const before = containersOf(project)
    await keepsChain(project, () => {
      project.compose('stop', 'gateway')
      project.compose('up', '-d')
    })
    assert.deepEqual(containersOf(project), before)
  },
  'restart keeps the chain': async (project) => void (await keepsChain(project, () => void project.compose('restart'))),
  'up --force-recreate keeps the chain, in new containers': async (project) => {
    const before = new Set(containersOf(project))
    await keepsChain(project, () => void project.compose('up', '-d', '--force-recreate'))
    assert.ok(containersOf(project).every((id) => !before.has(id)))
  },
  'up with a new image runs it in every service, on the same chain': async (project) => {
    let next = ''
    await keepsChain(project, () => {
      next = project.buildNextImage()
      project.compose('up', '-d')
    })
    assert.deepEqual(new Set(project.inspect('{{.Image}}').values()), new Set([next]))
  },
}

/** Signs a transfer here, outside of the containers, and has it in a block. */
export async function transferFromOutside({ gateway }: Project): Promise<void> {
  const svc = new Svc(gateway)
  assert.equal(svc.accounts.add(PUBLIC_MNEMONIC), OWNER)
  const { height } = await svc.async.transfer({ from: OWNER, to: OTHER, value: '7' })
  assert.ok(height > 0)
  assert.equal(await call<string>(gateway, 'svc_getBalance', [OTHER]), '7')
}

/** Has the gateway sign a declaration for a public account that has no candidacy, and once more, which fails. */
export async function declareThroughGateway({ gateway }: Project): Promise<void> {
  const from = (await call<readonly string[]>(gateway, 'svc_accounts'))[9]
  const input = { from, pubKey: 'Q6g8+/AYhYdF1rZJktMj0Akj5eGTCBVxavF6jMV8haQ=' }
  const first = await call<{ height: number }>(gateway, 'svc_declareCandidacy', [input])
  assert.ok(first.height > 0)
  const again = await call<{ height: number; check_tx: { log?: string } }>(gateway, 'svc_declareCandidacy', [input])
  assert.deepEqual({ height: again.height, log: again.check_tx.log }, { height: 0, log: 'pubkey has been declared' })
}

/** The gateway and the RPC are all that is published, and on loopback. */
export function assertPublished({ inspect, gateway, rpc }: Project): void {
  const ports = inspect('{{range .NetworkSettings.Ports}}{{range .}}{{.HostIp}}:{{.HostPort}} {{end}}{{end}}')
  const shown = [...ports.values()].flatMap((text) => text.split(' ').filter(Boolean)).sort()
  assert.deepEqual(shown, [gateway, rpc].map((url) => url.replace('http://', '')).sort())
}

/** Every service can write nowhere but in its volumes and /tmp, holds no capability, can win none, and has bounds. */
export function assertConfined({ compose, services, inspect }: Project): void {
  const held = ['.ReadonlyRootfs', '.CapDrop', '.SecurityOpt', '.PidsLimit'].map((name) => `{{.HostConfig${name}}}`)
  const limits = inspect([...held, '{{gt .HostConfig.Memory 0}}'].join(' '))
  for (const service of services) {
    assert.match(limits.get(service) ?? '', /^true \[ALL\] \[no-new-privileges:?(?:true)?\] 512 true$/)
  }
  // And what the kernel makes of it, in one of them.
  const status = compose(
    'exec',
    '-T',
    services[0] as string,
    'grep',
    '-E',
    '^(CapBnd|NoNewPrivs):',
    '/proc/1/status',
  ).replaceAll('\t', ' ')
  assert.deepEqual(status.split('\n'), ['CapBnd: 0000000000000000', 'NoNewPrivs: 1'])
}

/** The application listens at a socket that nobody but its own user can open, and at no port. */
export function assertSocket({ compose }: Project, app: string, path: string): void {
  const look = `stat -c '%a %F' ${path}; cat /proc/net/tcp /proc/net/tcp6 | grep -c ":6822 "; true`
  assert.match(compose('exec', '-T', app, 'sh', '-c', look), /^[67]00 socket\n0$/)
}

/** No process of any service is root's. */
export function assertNoRoot({ compose, services }: Project): void {
  for (const service of services) assert.equal(compose('exec', '-T', service, 'id', '-u'), '1000')
}
