/**
 * A gateway whose node is killed, paused or behind: `make outage`. The campaign `methods` calls every method of the
 * OpenRPC document meanwhile, and `again` sends `--count` transactions, 1,000 unless told otherwise, until each is in a
 * block. `--seed` gives the moments of `again`.
 */
import { join } from 'node:path'
import { type CampaignReport, runCampaigns } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { sendAgain } from './again.ts'
import { callEveryMethod } from './methods.ts'
import { faults, type OutageNetwork, startOutageNetwork } from './network.ts'

const TRANSACTIONS = 1_000

async function withNetwork<T>(use: (net: OutageNetwork) => Promise<T>): Promise<T> {
  const folder = tempFolder('outage')
  const net = await startOutageNetwork(join(folder.path, 'net'))
  // A paused process would be left over.
  const end = (): void => void net.close().finally(() => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  try {
    return await use(net)
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end)
    await net.close()
    folder.remove()
  }
}

await runCampaigns(
  {
    methods: () =>
      withNetwork(async (net) => {
        const reports: CampaignReport[] = []
        for (const fault of faults) reports.push(await callEveryMethod(net, fault))
        return reports
      }),
    again: (options) => withNetwork((net) => sendAgain(net, options)),
  },
  TRANSACTIONS,
)
