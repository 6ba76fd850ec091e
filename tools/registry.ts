/**
 * Serves the packages of .cache/packages as a registry for the scope @svcd: `node tools/registry.ts`, after `npm run pack`.
 * npm asks it, and the public registry for everything else, with the setting that it prints.
 *   --port   default 4873
 */
import { programArgs } from './testing/programArgs.ts'
import { serveRegistry } from './packages/registry.ts'

const { values } = programArgs({ options: { port: { type: 'string', default: '4873' } } })
const { url } = await serveRegistry(Number(values.port))
process.stdout.write(`npm config set --location=user @svcd:registry ${url}\n`)
