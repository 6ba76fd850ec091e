import { writeFileSync } from 'node:fs'
import { makeFolder } from '../base/folder.ts'
import { join } from 'node:path'
import { SVCD_WORDS } from './self.ts'
import { type Endpoint, printEndpoint } from './settings.ts'
import { systemdUnits } from './testnet/units.ts'

/** Who the units of `svcd init` run as. Source: docs/operations.md, Under systemd. */
const USER = 'svcd'

/**
 * Writes the systemd units of one home into its folder `systemd`; returns that folder. `rpc`: where CometBFT's RPC
 * listens.
 */
export function writeUnits(home: string, abci: string, rpc: Endpoint): string {
  const folder = join(home, 'systemd')
  const node = `http://${printEndpoint({ ...rpc, host: rpc.host.replace(/^(?:0\.0\.0\.0|::)$/, '127.0.0.1') })}`
  makeFolder(folder, 0o700)
  const units = systemdUnits({
    home,
    user: USER,
    programs: SVCD_WORDS,
    commands: {
      app: [...SVCD_WORDS, 'start', '--home', home, '--abci', abci],
      cometbft: ['cometbft', 'node', '--home', home],
      gateway: [...SVCD_WORDS, 'gateway', '--home', home, '--node', node],
    },
  })
  for (const [name, text] of Object.entries(units)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  return folder
}
