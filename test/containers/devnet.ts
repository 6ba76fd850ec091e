import assert from 'node:assert/strict'
import {
  assertConfined,
  assertNoRoot,
  assertPublished,
  assertSocket,
  call,
  declareThroughGateway,
  downAndUp,
  heightOf,
  keepsChain,
  keptSteps,
  OWNER,
  type Steps,
  transferFromOutside,
  untilHealthy,
} from './project.ts'

/** What holds of docker-compose.yml. */
export const devnetSteps: Steps = {
  'all services become healthy from nothing but up': async (project) => {
    project.compose('up', '-d')
    await untilHealthy(project, 2)
  },
  'the gateway answers from outside, and takes a transaction signed outside': async (project) => {
    const { data } = await call<{ data: readonly { owner_address: string }[] }>(project.gateway, 'svc_queryValidators')
    assert.deepEqual(
      data.map((one) => one.owner_address),
      [OWNER],
    )
    await transferFromOutside(project)
  },
  'the gateway signs for a public account, and a failed transaction is a result with its log': declareThroughGateway,
  "CometBFT's RPC answers from outside": async ({ rpc }) => {
    const { result } = (await (await fetch(`${rpc}/status`)).json()) as { result: { node_info: { network: string } } }
    assert.equal(result.node_info.network, 'svcd-devnet')
  },
  'only the gateway and the RPC are published, on loopback': async (project) => assertPublished(project),
  'nothing runs as root, and no compiler is in the image': async (project) => {
    assertNoRoot(project)
    const look = 'command -v go gcc make python3; ls /svcd/node_modules/typescript; true'
    assert.equal(project.compose('exec', '-T', 'app', 'sh', '-c', look), '')
  },
  'every service is confined, and CometBFT and the application meet at a socket of theirs': async (project) => {
    assertConfined(project)
    assertSocket(project, 'app', '/chain/abci.sock')
    assert.equal(project.compose('exec', '-T', 'app', 'stat', '-c', '%a', '/chain'), '700')
  },
  'an application that is killed comes back, and its chain goes on': async (project) => {
    const before = await heightOf(project)
    project.compose('exec', '-T', 'app', 'sh', '-c', 'kill -9 $(cat /proc/1/task/1/children)')
    await untilHealthy(project, before + 3)
  },
  ...keptSteps,
  'make up builds, and runs what it built on the same chain': async (project) => {
    const before = new Set(project.inspect('{{.Image}}').values())
    await keepsChain(project, () => void project.compose('up', '-d', '--build'))
    const images = new Set(project.inspect('{{.Image}}').values())
    assert.equal(images.size, 1)
    assert.notDeepEqual(images, before)
  },
  'down and up keep the chain': async (project) => void (await downAndUp(project)),
}
