import { chmodSync, writeFileSync } from 'node:fs'
import { findCometBft } from '../../../src/comet/find.ts'

/**
 * A CometBFT whose disk fills up: no file of it may grow beyond `kib` KiB, so that its next write fails as on a full
 * disk, in the same place, with `file too large` for `no space left on device`. Nobody needs to be root for that. Its
 * log goes through a pipe and has no limit. Writes the program to `path`.
 */
export async function cometBftOnFullDisk(path: string, kib: number): Promise<string> {
  const { path: program } = await findCometBft()
  writeFileSync(path, `#!/usr/bin/env bash\nexec > >(cat) 2>&1\nulimit -f ${kib}\nexec '${program}' "$@"\n`)
  chmodSync(path, 0o755)
  return path
}
