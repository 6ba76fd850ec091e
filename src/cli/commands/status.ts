import { type Configure, example, type GatewayFlags, withGateway } from '../command.ts'
import { answer, fields } from '../output.ts'
import { remoteFrom } from '../remote.ts'

/** `svcd status`. */
export const configure: Configure = (command) => {
  withGateway(example(command, 'svcd status')).action(async (flags: GatewayFlags) => {
    const remote = remoteFrom(flags)
    const status = { ...await remote.call('svc_status') as object, gateway: remote.url }
    answer(flags.json, status, () => fields(status))
  })
}
