import { readFileSync, statSync } from 'node:fs'
import { assertGenesisLimits, BLOCK_BYTES_MAX } from '../app/genesis.ts'
import { UserError } from './userError.ts'

/**
 * Largest genesis file: its app_state comes to the application in one request, which is bounded like one with a block.
 */
export const GENESIS_BYTES_MAX: number = BLOCK_BYTES_MAX

/** What a genesis file says, as far as it is looked at here. */
export interface GenesisFile {
  readonly text: string
  readonly chainId: string
  readonly appState: unknown
}

interface GenesisJson {
  readonly chain_id?: unknown
  readonly initial_height?: unknown
  readonly consensus_params?: { readonly block?: { readonly max_bytes?: unknown } | null } | null
  readonly app_state?: unknown
}

function parse(path: string): { readonly text: string; readonly json: GenesisJson } {
  const { size } = statSync(path)
  if (size > GENESIS_BYTES_MAX)
    throw new UserError(`${path}: expected a genesis file of at most ${GENESIS_BYTES_MAX} bytes, got ${size}`)
  const text = readFileSync(path, 'utf8')
  try {
    const json = JSON.parse(text) as GenesisJson | null
    if (typeof json?.chain_id === 'string') return { text, json }
  } catch {
    /* said below */
  }
  throw new UserError(`${path}: expected a genesis file with a chain_id`)
}

/**
 * Reads a genesis file whose chain can be served, as far as its size, consensus parameters and initial height tell; its
 * app_state is not looked at. Throws a UserError that names the file, and what the file system throws.
 */
export function readGenesisFile(path: string): GenesisFile {
  const { text, json } = parse(path)
  const maxBytes = json.consensus_params?.block?.max_bytes
  try {
    assertGenesisLimits({
      blockMaxBytes: maxBytes === undefined ? undefined : Number(maxBytes),
      initialHeight: Number(json.initial_height ?? 1),
    })
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}`)
  }
  return { text, chainId: json.chain_id as string, appState: json.app_state }
}
