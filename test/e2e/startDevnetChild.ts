/** A test runner that starts a devnet and never closes it. */
import { startDevnet } from '../../src/cli/devnet/startDevnet.ts'

console.log((await startDevnet()).url)
setInterval(() => undefined, 1000)
