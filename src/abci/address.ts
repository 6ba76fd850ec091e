import { lstatSync, unlinkSync } from 'node:fs'
import type { ListenOptions } from 'node:net'
import { connect } from 'node:net'
import { abciError } from './error.ts'

const LOOK_MS = 1000

/** Where `unix:///path` or `tcp://host:port` listens; port 0 takes a free one. Errors: `address` for any other text. */
export function parseAddress(address: string): ListenOptions {
  const unix = /^unix:\/\/(.+)$/.exec(address)
  if (unix !== null) return { path: unix[1] as string }
  const tcp = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^:/[\]]+)):(\d{1,5})$/.exec(address)
  const port = Number(tcp?.[3])
  if (tcp === null || port > 65_535)
    throw abciError('address', `not an ABCI address: ${address}; expected unix:///path or tcp://host:port`)
  return { host: (tcp[1] ?? tcp[2]) as string, port }
}

/** True where only this machine can connect: a unix socket, localhost, a loopback address. */
export function isLocalAddress(address: string): boolean {
  const { path, host } = parseAddress(address)
  return path !== undefined || /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host ?? '')
}

/**
 * Removes the socket file that a dead server left at `path`; nothing when there is none.
 * Errors: `inUse` when a server listens on it, or when the file is no socket: neither is ours to remove.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw abciError('inUse', `${path} is there and is no socket`)
  if (await isListening(path)) throw abciError('inUse', `another server listens on ${path}`)
  unlinkSync(path)
}

// Only a refused connection proves that nobody listens; a full backlog or a slow one means that somebody does.
function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    const settle = (listening: boolean): void => {
      socket.destroy()
      resolve(listening)
    }
    socket.setTimeout(LOOK_MS, () => settle(true))
    socket.once('connect', () => settle(true))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    )
  })
}
