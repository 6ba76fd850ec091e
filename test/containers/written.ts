import assert from 'node:assert/strict'
import {
  assertConfined,
  assertSocket,
  downAndUp,
  keptSteps,
  type Project,
  type Steps,
  transferFromOutside,
  untilHealthy,
} from './project.ts'

/** Services of the compose file that `svcd testnet` writes for one validator and a full node. */
export const writtenServices = ['app-node0', 'cometbft-node0', 'app-full0', 'cometbft-full0', 'gateway']

/** RPC of the full node: its ports follow those of the validator. */
const fullRpc = ({ rpc }: Project): string => rpc.replace(/\d+$/, (port) => String(Number(port) + 10))

/** What holds of the compose file that `svcd testnet` writes. */
export const writtenSteps: Steps = {
  'all services become healthy from nothing but up, and the full node follows': async (project) => {
    project.compose('up', '-d')
    await untilHealthy(project, 3)
    const { result } = (await (await fetch(`${fullRpc(project)}/status`)).json()) as {
      result: { sync_info: { latest_block_height: string }; validator_info: { voting_power: string } }
    }
    assert.ok(Number(result.sync_info.latest_block_height) >= 2)
    assert.equal(result.validator_info.voting_power, '0')
  },
  'the gateway of the first node takes a transaction signed outside': transferFromOutside,
  'every service is confined, and each node has a socket of its own': async (project) => {
    assertConfined(project)
    assertSocket(project, 'app-full0', '/chain/abci.sock')
  },
  ...keptSteps,
  'down and up keep the chain': async (project) => void (await downAndUp(project)),
}
