import { afterAll } from '@jest/globals'
import { tempFolder } from '../../support/tempFolder.ts'
import { endLeftovers } from './devnet.ts'

const STOP_MS_MAX = 600_000

/**
 * A folder for the tests of a file or of a group. After them `stop` is called; then, also when that fails, whatever
 * they left running is ended and the folder removed.
 */
export function testFolder(stop: () => unknown = () => undefined): string {
  const folder = tempFolder('e2e')
  afterAll(async () => {
    try {
      await stop()
    } finally {
      endLeftovers()
      folder.remove()
    }
  }, STOP_MS_MAX)
  return folder.path
}
