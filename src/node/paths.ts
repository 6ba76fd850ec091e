import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { utf8 } from '../base/bytes.ts'
import { UserError } from './errors.ts'

/** The command line that starts this svcd, wherever it is installed. */
export const SVCD_WORDS: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../cli/svcd.js', import.meta.url)),
]

// The path of a socket has at most 107 bytes on Linux and 103 on macOS.
const SOCKET_PATH_MAX = 103

/**
 * The path of a socket of a home. Throws a UserError where it is too long for one. In a folder that others write to,
 * somebody else could listen under its name, and CometBFT would take them for the application.
 */
export function socketPathOf(home: string, name: string): string {
  const path = join(home, name)
  const bytes = utf8(path).length
  if (bytes <= SOCKET_PATH_MAX) return path
  throw new UserError(
    `${path}: the path of a socket has at most ${SOCKET_PATH_MAX} bytes, and this one has ${bytes}. Choose a home with a ` +
      'shorter path, or make a symbolic link to this one and name that with --home',
  )
}

/** The address of a home's ABCI socket. */
export const abciAddressOf = (home: string): string => `unix://${socketPathOf(home, 'abci.sock')}`
