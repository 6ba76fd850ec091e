/**
 * What the project is made of: `make supply-chain`. Every version is exact, every install script and licence is known,
 * and no version has a weakness of tools/supplyChain/advisories.json that nobody explained. Nothing is asked of a
 * network.
 */
import { join } from 'node:path'
import { checkSupplyChain } from '../../tools/supplyChain/check.ts'
import { type CampaignReport, runCampaigns } from '../support/campaign.ts'

function supplyChain(root: string): CampaignReport {
  const { packages, problems } = checkSupplyChain(root)
  return {
    name: 'supply chain',
    target: 'versions exact, install scripts, licences and advisories explained',
    ran: packages,
    seed: undefined,
    result: problems.length === 0 ? 'nothing found' : problems.join('; '),
    passed: problems.length === 0,
  }
}

if (import.meta.main) await runCampaigns({ packages: () => supplyChain(join(import.meta.dirname, '../..')) }, 0)
