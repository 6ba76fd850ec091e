import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toHex, utf8 } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'

/** The command line that starts this svcd, wherever it is installed. */
export const SVCD_WORDS: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../cli/svcd.js', import.meta.url)),
]

// The path of a socket has at most 107 bytes on Linux and 103 on macOS.
const SOCKET_PATH_MAX = 103

/** The path of a socket of a home: in the home, or in the system's temporary folder if that path is too long. */
export function socketPathOf(home: string, name: string): string {
  const inside = join(home, name)
  if (utf8(inside).length <= SOCKET_PATH_MAX) return inside
  return join(tmpdir(), `svcd-${toHex(sha256(utf8(inside))).slice(0, 16)}.sock`)
}

/** The address of a home's ABCI socket. */
export const abciAddressOf = (home: string): string => `unix://${socketPathOf(home, 'abci.sock')}`
