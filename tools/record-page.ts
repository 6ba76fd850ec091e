/**
 * Takes the pictures of the web page that README and docs/page.md show, on a devnet of its own with four validators:
 * `node tools/record-page.ts`. Writes docs/assets/page-*.png, each once for light and once for dark.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Devnet, startDevnet } from '../src/cli/devnet/startDevnet.ts'
import { Svc } from '../src/client/index.ts'
import { startBrowser } from '../test/e2e/support/browser.ts'

const out = join(import.meta.dirname, '../docs/assets')

/** How many blocks the pictures show, with some transfers in each. */
const BLOCKS = 110

const DESCRIPTIONS = [
  {
    name: 'Harbour',
    website: 'https://harbour.example',
    location: 'Lisbon',
    profile: 'Two machines in two cities, one key.',
  },
  { name: 'Northern Lights', website: 'https://lights.example', location: 'Tromsø', profile: 'Run by a cooperative.' },
  { name: 'Kiln', website: 'https://kiln.example', location: 'Kyoto', profile: 'Small and slow to change.' },
  { name: 'Meridian', website: 'https://meridian.example', location: 'Quito', profile: 'On the line.' },
]

/** What has happened on the chain: payments, open and closed proposals, votes. Returns the id of the open proposal. */
async function live({ url, accounts }: Devnet): Promise<string> {
  const svc = new Svc(url)
  const { stake, governance, transfer, blockNumber } = svc.async
  const owners = accounts.slice(0, DESCRIPTIONS.length).map(({ address }) => address)
  await Promise.all(owners.map((from, at) => stake.validator.update({ from, description: DESCRIPTIONS[at] as object })))
  const [first = '', second = '', third = ''] = owners
  const idOf = async (sent: ReturnType<typeof transfer>): Promise<string> => (await sent).deliver_tx.data ?? ''
  const expiring = (await blockNumber()) + 12
  await governance.proposeChangeParam({
    from: third,
    name: 'inflation_rate',
    value: '11',
    reason: 'More for those who sign.',
    expireBlockHeight: expiring,
  })
  const accepted = await idOf(
    governance.proposeChangeParam({
      from: second,
      name: 'max_vals',
      value: '7',
      reason: 'Three more have asked to join.',
    }),
  )
  await Promise.all(owners.slice(0, 3).map((from) => governance.vote({ from, proposalId: accepted, answer: 'Y' })))
  const open = await idOf(
    governance.proposeChangeParam({
      from: first,
      name: 'gas_price',
      value: '1500000000',
      reason: 'Fees were set when blocks were full. They are a tenth full now, and people who vote pay too.',
    }),
  )
  await governance.vote({ from: first, proposalId: open, answer: 'Y' })
  await governance.vote({ from: third, proposalId: open, answer: 'N' })
  for (let round = 0; (await blockNumber()) < BLOCKS; round++) {
    const count = 3 + ((round * 7) % 17)
    await Promise.all(
      Array.from({ length: count }, (_, at) =>
        transfer({
          from: accounts[4 + (at % 6)]?.address ?? first,
          to: accounts[(at + round) % 10]?.address ?? second,
          value: Svc.fromTokens(String(1 + at)),
        }),
      ),
    )
  }
  return open.replaceAll('+', '-').replaceAll('/', '_')
}

execFileSync(process.execPath, [join(import.meta.dirname, 'page.ts')], { stdio: 'inherit' })
const net = await startDevnet({ validators: DESCRIPTIONS.length, blockTime: '400ms' })
const browser = await startBrowser()
try {
  const proposal = await live(net)
  const shoot = async (name: string, view: string, options: object = {}): Promise<void> => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 780 }, deviceScaleFactor: 1, ...options })
    await page.goto(`${net.url}/#/${view}`)
    await page.locator('main h1').waitFor({ state: 'attached' })
    // The plots, and what is asked for after the first answers.
    await page.waitForTimeout(3_000)
    await page.screenshot({ path: join(out, `page-${name}.png`), animations: 'disabled' })
    await page.close()
  }
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }
  for (const [end, colorScheme] of [
    ['', 'light'],
    ['-dark', 'dark'],
  ] as const) {
    await shoot(`overview${end}`, '', { colorScheme })
    await shoot(`validators${end}`, 'validators', { colorScheme })
    await shoot(`proposal${end}`, `proposals/${proposal}`, { colorScheme })
    await shoot(`validator${end}`, `validators/${net.accounts[1]?.address}`, { ...phone, colorScheme })
  }
} finally {
  await browser.close()
  await net.close()
}
