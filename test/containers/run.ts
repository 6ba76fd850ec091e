/**
 * `make test-containers`: the composed networks in real containers, from a build to `down` and `up` again. Says why and
 * ends with 0 where no engine answers; ends with 1 when something was not as it should be, with the containers' last
 * lines. Its projects and its ports are their own: a devnet that is up is not touched.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { svcd } from '../e2e/support/devnet.ts'
import { freeBasePort, freePorts } from '../e2e/support/processes.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { devnetSteps } from './devnet.ts'
import { type Engine, findEngine } from './engine.ts'
import { type Composed, makeProject, type Steps } from './project.ts'
import { TESTNET_SERVICES, testnetSteps } from './testnet.ts'
import { writtenServices, writtenSteps } from './written.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs the steps of one project; throws at the first that fails, once nothing of it is left. */
async function runSteps(engine: Engine, name: string, composed: Composed, steps: Steps): Promise<number> {
  say(`== ${name}`)
  const project = makeProject(engine, composed)
  try {
    for (const [step, hold] of Object.entries(steps)) {
      const begunMs = performance.now()
      await hold(project)
      // The compose program blocks this one: connections that the gateway closed meanwhile are seen before the next
      // call takes one.
      await sleep(100)
      say(`ok      ${step} (${((performance.now() - begunMs) / 1000).toFixed(1)} s)`)
    }
    return Object.keys(steps).length
  } catch (error) {
    say(project.compose('logs', '--tail=20'))
    throw error
  } finally {
    project.compose('down', '-v')
  }
}

async function runAll(engine: Engine): Promise<string> {
  say(engine.version)
  const folder = tempFolder('containers')
  const output = join(folder.path, 'net')
  try {
    const [gatewayPort = 0, rpcPort = 0] = await freePorts(2)
    const ports = { gatewayPort, rpcPort }
    const one = { files: ['docker-compose.yml'], services: ['app', 'cometbft', 'gateway'], ...ports }
    const four = { files: ['docker-compose.yml', 'docker-compose.testnet.yml'], services: TESTNET_SERVICES, ...ports }
    makeProject(engine, one).compose('build')
    let passed = await runSteps(engine, one.files.join(' '), one, devnetSteps)
    passed += await runSteps(engine, four.files.join(' '), four, testnetSteps)
    const base = await freeBasePort(2)
    const args = [
      '--validators',
      '1',
      '--full-nodes',
      '1',
      '--public-keys',
      '--base-port',
      String(base),
      '--output',
      output,
    ]
    const { status, stderr } = await svcd(['testnet', ...args])
    if (status !== 0) throw new Error(stderr)
    const written = {
      files: [join(output, 'docker-compose.yml')],
      services: writtenServices,
      gatewayPort: base + 2,
      rpcPort: base + 1,
    }
    passed += await runSteps(engine, 'the compose file of svcd testnet', written, writtenSteps)
    return `${passed} passed, 0 failed`
  } catch (error) {
    process.exitCode = 1
    return `FAILED  ${error instanceof Error ? error.message : String(error)}`
  } finally {
    folder.remove()
  }
}

/** The whole of `make test-containers`; resolves with the last line to print. */
export async function main(env: NodeJS.ProcessEnv): Promise<string> {
  const engine = findEngine(env)
  return typeof engine === 'string' ? `skipped: ${engine}` : await runAll(engine)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) say(await main(process.env))
