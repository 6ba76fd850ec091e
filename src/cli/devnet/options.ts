import type { Endpoint } from '../settings.ts'

/** What `svcd devnet` is told. */
export interface DevnetOptions {
  readonly home: string
  readonly gateway: Endpoint
  /** 1 to DEVNET_ACCOUNTS. */
  readonly validators: number
  /** Of the first validator, as the next. */
  readonly rpc: Endpoint
  readonly p2p: Endpoint
  readonly blockTimeMs: number
  readonly os?: string | undefined
  readonly reset: boolean
  /** The program version that the applications execute, instead of their own. */
  readonly acceptProgramVersion?: number | undefined
}
