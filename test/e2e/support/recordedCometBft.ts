import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { abciAddressOf } from '../../../src/node/paths.ts'
import { recordAbci } from '../../support/abciRecorder.ts'
import { tempFolder } from '../../support/tempFolder.ts'

/**
 * Makes a program that runs the CometBFT `program`, with recorders between it and the applications of some homes. Its
 * nodes must be started as svcd does: `node --home <home>`.
 */
export async function recordedCometBft(program: string, homes: readonly string[]) {
  const folder = tempFolder('comet')
  const path = join(folder.path, 'cometbft')
  const recorders = await Promise.all(
    homes.map((home) => recordAbci({ path: abciAddressOf(home).slice('unix://'.length) })),
  )
  const cases = homes.map(
    (home, at) => `  "node --home ${home}") set -- "$@" --proxy_app '${recorders[at]?.address}' ;;\n`,
  )
  // It becomes the program, so that signals and the list of processes are as without it.
  writeFileSync(path, `#!/bin/sh\ncase "$*" in\n${cases.join('')}esac\nexec '${program}' "$@"\n`, { mode: 0o755 })
  return {
    path,
    /** Resolves with how many calls there were; see AbciRecorder. */
    close: async () => {
      try {
        const recorded = await Promise.all(recorders.map((recorder) => recorder.close()))
        return recorded.reduce((sum, { calls }) => sum + calls, 0)
      } finally {
        folder.remove()
      }
    },
  }
}
