/**
 * Runs the script on the store in a file from where it stands and tells a line for each committed block; the test kills
 * it.
 */
import { appOn, heightOf, onDisk, script } from './support.ts'
import { tell } from '../support/tell.ts'

const [path = ''] = process.argv.slice(2)
const { init, blocks } = script()
const store = onDisk(path)
const app = appOn(store)
if (heightOf(app) === 0) app.initChain(init)
for (const block of blocks.slice(heightOf(app))) {
  app.finalizeBlock(block)
  app.commit({})
  tell(block.height)
}
store.close()
