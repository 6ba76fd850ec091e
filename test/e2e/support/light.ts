import { findCometBft } from '../../../src/comet/find.ts'
import { type LightProxy, startLightProxy } from '../../../src/comet/light.ts'
import type { Devnet } from './devnet.ts'

/** Starts the light client that docs/client.md begins with: `cometbft light` with the first header that its node shows. */
export async function startLight(net: Devnet, folder: string): Promise<LightProxy> {
  const { chainId } = await net.node.status()
  const { path: program } = await findCometBft()
  const { hash } = await net.node.block(1)
  const url = net.node.url
  return startLightProxy({ program, folder, chainId, primary: url, witnesses: [url], trust: { height: 1, hash } })
}
