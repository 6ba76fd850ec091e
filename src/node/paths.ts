import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { utf8 } from '../base/bytes.ts'
import { UserError } from './errors.ts'

/** The command line that starts this svcd, wherever it is installed. */
export const SVCD_WORDS: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../cli/svcd.js', import.meta.url)),
]

function known<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise // As in a container that runs as a number without a name.
  }
}

/** The home folder of this user; / for one whom the system does not know. */
export const userFolder = (ask = homedir): string => known(ask, '/')

/** The name of this user; the number of one whom the system does not know, which systemd takes as well. */
export const userName = (ask = () => userInfo().username): string => known(ask, String(process.getuid?.()))

// The path of a socket has at most 107 bytes on Linux and 103 on macOS.
const SOCKET_PATH_MAX = 103

/**
 * The path of a socket of a home. Throws a UserError where it is too long for one, and on Windows, where Node has no such
 * sockets. In a folder that others write to, somebody else could listen under its name, and CometBFT would take them for
 * the application.
 */
export function socketPathOf(home: string, name: string, platform = process.platform): string {
  if (platform === 'win32')
    throw new UserError(
      'svcd listens at a socket in its home, which Node on Windows cannot. Run it in WSL, the Windows Subsystem for Linux',
    )
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
