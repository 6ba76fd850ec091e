import { join } from 'node:path'
import { type Endpoint, printEndpoint } from '../settings.ts'
import { makeHomes, type NetworkNode } from '../testnet/homes.ts'
import { PORTS_OF_ONE } from '../testnet/plan.ts'
import { UserError } from '../userError.ts'
import { DEVNET_CHAIN_ID, devnetSigners } from './genesis.ts'
import { abciAddressOf } from './home.ts'

/** Where a devnet is, and where its first validator listens. */
interface DevnetPlace {
  readonly home: string
  readonly validators: number
  readonly rpc: Endpoint
  readonly p2p: Endpoint
}

/** One validator of a devnet: its home and where its parts listen. */
export interface DevnetNode extends NetworkNode {
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  readonly abci: string
}

/** Validator `at`'s endpoint. Throws a UserError that names the flag when there is no such port. */
function endpointOf({ host, port }: Endpoint, at: number, flag: string): Endpoint {
  const own = port + PORTS_OF_ONE * at
  if (own > 65_535)
    throw new UserError(
      `${flag}: validator ${at} would need port ${own}: begin at ${65_535 - PORTS_OF_ONE * at} or lower`,
    )
  return { host, port: own }
}

/**
 * The validators of a devnet: the first has the home itself, validator i the folder node<i> in it, and 10 i added to
 * the ports. Account i owns it. Throws a UserError when there are no such ports.
 */
export function devnetNodes({ home, validators, rpc, p2p }: DevnetPlace): readonly DevnetNode[] {
  return devnetSigners()
    .slice(0, validators)
    .map(({ address }, at) => {
      const own = { rpc: endpointOf(rpc, at, '--rpc'), p2p: endpointOf(p2p, at, '--p2p') }
      const ownHome = at === 0 ? home : join(home, `node${at}`)
      const abci = abciAddressOf(ownHome)
      return {
        ...own,
        name: at === 0 ? 'devnet' : `node${at}`,
        home: ownHome,
        abci,
        owner: address,
        peer: { host: /^(?:0\.0\.0\.0|::)$/.test(p2p.host) ? '127.0.0.1' : p2p.host, port: own.p2p.port },
        addresses: {
          rpc: `tcp://${printEndpoint(own.rpc)}`,
          p2p: `tcp://${printEndpoint(own.p2p)}`,
          abci,
          metrics: false,
        },
      }
    })
}

/** The homes of a devnet with its public accounts; those that are there keep keys and chain. */
export const makeDevnetHomes = (nodes: readonly DevnetNode[], blockTimeMs?: number) =>
  makeHomes(nodes, { chainId: DEVNET_CHAIN_ID, accounts: devnetSigners().map(({ address }) => address), blockTimeMs })
