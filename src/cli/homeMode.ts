import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Mode of a home and of every folder in it; its files are 0600. */
const HOME_MODE = 0o700

/**
 * Closes a home to the other users of the machine: a folder of this user that is empty or holds a chain becomes mode
 * 0700. Of any other folder that is open `say` only tells, as somebody may share it on purpose. Nothing when there is
 * no such folder yet.
 */
export function closeHome(home: string, say: (line: string) => void): void {
  const found = statSync(home, { throwIfNoEntry: false })
  // Windows has no such modes.
  if (found === undefined || !found.isDirectory() || process.platform === 'win32' || (found.mode & 0o077) === 0) return
  const open = `${home}: mode 0${(found.mode & 0o777).toString(8)} opens it to other users of this machine`
  const isEmpty = readdirSync(home).length === 0
  const isOurs = found.uid === process.getuid?.() && (isEmpty || existsSync(join(home, 'config', 'genesis.json')))
  if (!isOurs) return say(`${open}: chmod 700 ${home}`)
  chmodSync(home, HOME_MODE)
  if (!isEmpty) say(`${open}: it is 0700 now`)
}
