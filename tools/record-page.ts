/**
 * Takes pictures of the web page, on devnets of its own.
 *   node tools/record-page.ts            those that README and docs/page.md show: writes docs/assets/page-*.png,
 *                                        each once for light and once for dark
 *   node tools/record-page.ts --all DIR  those of every view, on chains of 1, 4, 100 and 300 candidacies, at each width and
 *                                        in both schemes of colours, to be looked at
 *     --candidacies 1,300  --widths 390  --schemes dark  --views validators,proposals   only these; without --views all
 *     --nodes 4            how many of the candidacies have a running node; 1 unless given
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type Devnet, startDevnet } from '../src/cli/devnet/startDevnet.ts'
import { Svc } from '../src/client/index.ts'
import { startBrowser } from '../test/e2e/support/browser.ts'
import { openAccount } from '../test/e2e/support/wallet.ts'
import { growLargeChain, type LargeChain, largeChainOptions } from '../test/support/largeChain.ts'
import { tempFolder } from '../test/support/tempFolder.ts'
import { programArgs } from './testing/programArgs.ts'

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

/** The id of a proposal as a link has it. */
const urlSafe = (id: string): string => Buffer.from(id, 'base64').toString('base64url')

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
  return urlSafe(open)
}

/** Waits for what a view asks for: its rows, the plots, and what is asked for after the first answers. */
async function settle(page: Page): Promise<void> {
  await page.locator('main h1').waitFor({ state: 'attached' })
  await page.waitForTimeout(1_500)
  while ((await page.locator('main [aria-busy="true"]').count()) > 0) await page.waitForTimeout(100)
  await page.waitForTimeout(1_000)
}

/** The pictures of README and docs/page.md. */
async function recordDocs(browser: Browser): Promise<void> {
  const net = await startDevnet({ validators: DESCRIPTIONS.length, blockTime: '400ms' })
  try {
    const proposal = await live(net)
    const shoot = async (name: string, view: string, options: object = {}): Promise<void> => {
      const page = await browser.newPage({ viewport: { width: 1200, height: 780 }, deviceScaleFactor: 1, ...options })
      await page.goto(`${net.url}/#/${view}`)
      await settle(page)
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
    await net.close()
  }
}

/** What is done in a view before its picture is taken. */
type Step = (page: Page) => Promise<unknown>

const press =
  (name: string): Step =>
  (page) =>
    page.getByRole('main').getByRole('button', { name }).click()

/** Where a view is, and what is done in it. */
type View = readonly [path: string, ...steps: Step[]]

/** Every view of the page that shows something of this chain, by the name of its picture. */
async function viewsOf({ url, accounts }: Devnet): Promise<Readonly<Record<string, View>>> {
  const { governance, stake, getTransactions, blockNumber } = new Svc(url).async
  const [owner, second] = accounts.map(({ address }) => address) as [string, string]
  const { data: validators } = await stake.validator.list()
  const { data: proposals } = await governance.listProposals({ newest: true, limit: 100 })
  const hostile = validators.find(({ description: { name } }) => name.includes('\u202E'))?.owner_address
  const unnamed = validators.find(({ description: { name } }) => name === '')?.owner_address
  const inactive = validators.find(({ active }) => active === 'N')?.owner_address
  const open = proposals.find(({ Result }) => Result === '')
  const ended = proposals.find(({ Result }) => Result !== '')
  const { data: txs } = await getTransactions({ address: owner, limit: 1 })
  const asOwner: Step = (page) => openAccount(page, owner)
  const view = (prefix: string, path: string | undefined, ...steps: Step[]) =>
    path === undefined ? {} : { [prefix]: [path, ...steps] as const }
  const proposalView = (id: string | undefined) => (id === undefined ? undefined : `proposals/${urlSafe(id)}`)
  const validatorView = (of: string | undefined) => (of === undefined ? undefined : `validators/${of}`)
  return {
    ...view('overview', ''),
    ...view('validators', 'validators'),
    ...view('validator', validatorView(owner)),
    ...view('validator-hostile', validatorView(hostile)),
    ...view('validator-unnamed', validatorView(unnamed)),
    ...view('validator-inactive', validatorView(inactive)),
    ...view('validator-own', validatorView(owner), asOwner),
    ...view('validator-withdraw', validatorView(owner), asOwner, press('Withdraw')),
    ...view('declare', 'validators/declare'),
    ...view('stake', `validators/${owner}/stake`),
    ...view('proposals', 'proposals'),
    ...view('proposal-open', proposalView(open?.Id), asOwner),
    ...view('proposal-ended', proposalView(ended?.Id)),
    ...view('vote', proposalView(open?.Id), asOwner, press('Vote yes')),
    ...Object.assign(
      {},
      ...['change_param', 'deploy_libeni', 'retire_program', 'transfer_fund'].map((kind) =>
        view(`propose-${kind}`, `proposals/new/${kind}`, asOwner),
      ),
    ),
    ...view('parameters', 'parameters'),
    ...view('parameter', 'parameters/gas_price'),
    ...view('blocks', 'blocks'),
    ...view('block', `blocks/${txs[0]?.height ?? (await blockNumber())}`),
    ...view('transactions', 'transactions'),
    ...view('transaction', txs[0] && `transactions/${txs[0].hash}`),
    ...view('account', `accounts/${owner}`),
    ...view('my-account', 'account', asOwner),
    ...view('send', 'send', asOwner),
    ...view('review-send', `send?to=${second}&value=1.5`, asOwner, press('Send')),
    ...view('search', 'search/old'),
    ...view('sign', 'sign'),
    ...view('nowhere', 'nowhere'),
  }
}

const HEIGHTS: Readonly<Record<string, number>> = { 1440: 900, 768: 1024, 390: 844, 320: 640 }

/** Further down a picture shows nothing that cannot be seen above, in px. */
const SHOWN_PX = 4_400

const partOf = ({ width, height }: { width: number; height: number }, high: number) => ({
  fullPage: true,
  clip: { x: 0, y: 0, width, height: Math.max(height, Math.min(high, SHOWN_PX)) },
})

/** What of the matrix is taken. */
interface Chosen {
  readonly folder: string
  readonly chain: LargeChain
  readonly widths: readonly string[]
  readonly schemes: readonly string[]
  readonly views: readonly string[] | undefined
}

/** Views that are open at the same time: most of the time of one is waiting for answers. */
const AT_ONCE = 3

/** How long a busy machine may take for a step, in ms. */
const STEP_MS = 120_000

/** The pictures of every view of one chain. Each view is opened once, and then shown at each width and in each scheme. */
async function recordAll(browser: Browser, { folder, chain, widths, schemes, views }: Chosen): Promise<void> {
  const temp = tempFolder('pictures')
  const net = await startDevnet(largeChainOptions(temp.path, chain))
  const take = async (name: string, [path, ...steps]: View): Promise<void> => {
    const page = await browser.newPage()
    page.setDefaultTimeout(STEP_MS)
    await page.goto(`${net.url}/#/${path}`)
    await settle(page)
    for (const step of steps) await step(page)
    if (steps.length > 0) await settle(page)
    for (const width of widths) {
      const viewport = { width: Number(width), height: HEIGHTS[width] ?? 900 }
      await page.setViewportSize(viewport)
      for (const colorScheme of schemes as ('light' | 'dark')[]) {
        await page.emulateMedia({ colorScheme })
        // Plots are drawn anew.
        await page.waitForTimeout(500)
        const file = `${name}-${chain.candidacies}-${width}-${colorScheme}.png`
        const [wide, high] = await page
          .locator('html')
          .evaluate((it) => [it.scrollWidth - it.clientWidth, it.scrollHeight] as const)
        if (wide > 0) process.stdout.write(`${file}: ${wide} pixels wider than the window\n`)
        await page.screenshot({ path: join(folder, file), animations: 'disabled', ...partOf(viewport, high) })
      }
    }
    await page.close()
  }
  try {
    await growLargeChain(net, chain)
    const left = Object.entries(await viewsOf(net)).filter(([name]) => views?.includes(name) !== false)
    const takeRest = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await take(...next)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, takeRest))
  } finally {
    await net.close()
    temp.remove()
  }
}

const { values } = programArgs({
  options: {
    all: { type: 'string' },
    candidacies: { type: 'string', default: '1,4,100,300' },
    widths: { type: 'string', default: '1440,768,390' },
    schemes: { type: 'string', default: 'light,dark' },
    views: { type: 'string' },
    nodes: { type: 'string', default: '1' },
  },
})

/** How many proposals a chain of so many candidacies has. */
const PROPOSALS: Readonly<Record<string, number>> = { 1: 0, 4: 1 }

execFileSync(process.execPath, [join(import.meta.dirname, 'page.ts')], { stdio: 'inherit' })
const browser = await startBrowser()
try {
  if (values.all === undefined) await recordDocs(browser)
  else {
    mkdirSync(values.all, { recursive: true })
    for (const count of values.candidacies.split(',')) {
      const candidacies = Number(count)
      await recordAll(browser, {
        folder: values.all,
        chain: { candidacies, proposals: PROPOSALS[count] ?? 200, nodes: Math.min(Number(values.nodes), candidacies) },
        widths: values.widths.split(','),
        schemes: values.schemes.split(','),
        views: values.views?.split(','),
      })
    }
  }
} finally {
  await browser.close()
}
