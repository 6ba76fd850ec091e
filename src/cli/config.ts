import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../base/folder.ts'
import { machineOs, parseOs } from './settings.ts'
import { UserError } from './userError.ts'

/** `<home>/config/svcd.json`. Flags win over SVCD_* variables, those over this file, this file over the defaults. */
export interface SvcdConfig {
  readonly eni?: { readonly os?: string; readonly allowAddresses?: readonly string[] }
  /** The gateway that commands ask. */
  readonly gateway?: string
  /** CometBFT's RPC. */
  readonly node?: string
  /** A snapshot every `interval` blocks, 0 for none, and how many are kept. */
  readonly snapshots?: { readonly interval?: number; readonly keep?: number }
  /** How many of the newest blocks are kept; 0 keeps all. */
  readonly pruning?: { readonly keepBlocks?: number }
  /** Who sends transactions: an address or a key's name. */
  readonly from?: string
}

const fileOf = (home: string): string => join(home, 'config', 'svcd.json')

/** Reads the file; an absent one is empty. Throws a UserError that names it. */
export function readConfig(home: string): SvcdConfig {
  const path = fileOf(home)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SvcdConfig
  } catch {
    throw new UserError(`${path}: expected a JSON object`)
  }
}

/**
 * The OS whose libraries this node takes: given, else configured, else that of the machine; where that is neither,
 * ubuntu is written to the file and `say` tells so. Source: protocol.md §7.
 */
export function chooseOs(home: string, given: string | undefined, say: (line: string) => void): string {
  const config = readConfig(home)
  if (given !== undefined) return parseOs(given)
  if (config.eni?.os !== undefined) return parseOs(config.eni.os)
  const own = machineOs()
  if (own !== undefined) return own
  makeFolder(dirname(fileOf(home)))
  writeFileSync(fileOf(home), `${JSON.stringify({ ...config, eni: { ...config.eni, os: 'ubuntu' } }, undefined, 2)}\n`)
  say('this machine is neither ubuntu nor centos: libraries for ubuntu are taken (eni.os in config/svcd.json)')
  return 'ubuntu'
}
