/**
 * Runs a gateway in its own process: `node bench/gatewayProcess.ts <node url> <port>`. It signs for
 * GATEWAY_SENDERS accounts, tells the process that started it when it listens, and ends with that process.
 */
import { startGateway } from '../src/gateway/gateway.ts'
import { signersOf } from './accounts.ts'
import { GATEWAY_SENDERS } from './load/pool.ts'

const [node = '', port = ''] = process.argv.slice(2)
const error = (about: object, message: string): void => {
  const { err } = about as { err?: { message?: string } }
  process.stderr.write(`gateway: ${message}: ${err?.message ?? ''}\n`)
}
const logger = { info: () => undefined, warn: () => undefined, error }
const signers = signersOf('caller', GATEWAY_SENDERS)
// All calls come from one address, as fast as it can send them, so their rate is not limited.
const gateway = await startGateway({
  node,
  port: Number(port),
  signers,
  publicKeys: true,
  limits: { callsPerSecond: 0 },
  logger,
})
process.send?.({ listening: gateway.url })
process.on('disconnect', () => void gateway.close().then(() => process.exit(0)))
