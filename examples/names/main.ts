/** Runs the application, and CometBFT beside it. With `--abci ADDRESS` only the application, for a node of your own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startAbciServer } from '@svcd/abci'
import { startNode } from '@svcd/abci/node'
import { openApplication } from './app.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { home: text, port: text, join: text, abci: text } })
const { home = 'data', port = '26657', abci } = values
const { name } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))

const { application, close } = openApplication(join(home, 'app'))
const server = await startAbciServer({ application, address: abci ?? 'tcp://127.0.0.1:0' })
console.log(`listening on ${server.address}`)
const options = { home, proxyApp: server.address, chainId: name, port: Number(port), join: values.join }
const node = abci === undefined ? await startNode(options) : undefined

process.exitCode = await new Promise<number>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve(0))
  const { env, ppid } = process // On SIGTERM npm ends the shell that runs this, and not this.
  if (env['npm_lifecycle_event']) setInterval(() => process.ppid === ppid || resolve(0), 200).unref()
  node?.ended.then(() => resolve(1)) // It has said why.
})
await node?.stop()
await server.close()
close()
