import { findCometBft } from '../../../src/comet/find.ts'
import { type LightProxy, startLightProxy } from '../../../src/comet/light.ts'
import { openNodeRpc } from '../../../src/comet/rpc.ts'

/** Starts the light client that docs/client.md begins with: `cometbft light` with the first header that its node shows. */
export async function startLight(url: string, folder: string): Promise<LightProxy> {
  const node = openNodeRpc(url)
  const { chainId, hash } = await node.block(1)
  await node.close()
  const { path: program } = await findCometBft()
  return startLightProxy({ program, folder, chainId, primary: url, witnesses: [url], trust: { height: 1, hash } })
}
