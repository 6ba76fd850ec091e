import { stallCauses } from '../doctorChecks.ts'
import { remoteFrom } from '../gatewayClient.ts'
import { chainIdOf } from '../homes.ts'
import { type Configure, example, type GatewayFlags, homeFrom, withGateway } from '../options.ts'
import { answer, fields } from '../output.ts'

/** What the home says of a chain that is not ready; nothing when it is the home of another chain, or of none. */
async function causeIn(home: string, chainId: string): Promise<{ readonly cause?: string }> {
  const cause = chainIdOf(home) === chainId ? stallCauses(home) : ''
  return cause === '' ? {} : { cause }
}

/** `svcd status`. */
export const configure: Configure = (command) => {
  withGateway(example(command, 'svcd status')).action(async (flags: GatewayFlags) => {
    const remote = remoteFrom(flags)
    const told = (await remote.call('svc_status')) as { readonly chain_id: string }
    const readiness = await remote.readiness()
    const cause = readiness.ready === false ? await causeIn(homeFrom(flags), told.chain_id) : {}
    const status = { ...told, gateway: remote.url, ...readiness, ...cause }
    answer(flags.json, status, () => fields(status))
  })
}
