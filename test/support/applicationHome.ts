import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { statePathOf } from '../../src/node/homes.ts'
import { homeFiles } from '../../src/comet/home.ts'
import { CHAIN_ID } from './testChain.ts'

/** Makes what `svcd start` needs of a home that no CometBFT runs in: its folders, and a genesis file with the chain's id. */
export function makeApplicationHome(home: string): void {
  const { genesis } = homeFiles(home)
  for (const file of [genesis, statePathOf(home)]) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(genesis, JSON.stringify({ chain_id: CHAIN_ID }))
}
