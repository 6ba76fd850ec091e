import { stallCauses } from '../doctorChecks.ts'
import { remoteFrom } from '../gatewayClient.ts'
import { chainIdOf } from '../homes.ts'
import { type Configure, example, type GatewayFlags, homeFrom, withGateway } from '../options.ts'
import { printAnswer, formatFields } from '../output.ts'

/** Looks in the home for the reason why the chain is not ready. Finds nothing in the home of another chain. */
async function causeIn(home: string, chainId: string): Promise<{ readonly cause?: string }> {
  const cause = chainIdOf(home) === chainId ? stallCauses(home) : ''
  return cause === '' ? {} : { cause }
}

/** Configures `svcd status`. */
export const configure: Configure = (command) => {
  withGateway(example(command, 'svcd status')).action(async (flags: GatewayFlags) => {
    const remote = remoteFrom(flags)
    const told = (await remote.call('svc_status')) as { readonly chain_id: string }
    const readiness = await remote.readiness()
    const cause = readiness.ready === false ? await causeIn(homeFrom(flags), told.chain_id) : {}
    const status = { ...told, gateway: remote.url, ...readiness, ...cause }
    printAnswer(flags.json, status, () => formatFields(status))
  })
}
