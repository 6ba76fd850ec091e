/** The pages of the documentation site in the order in which a reader needs them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A page of the site. */
export interface SitePage {
  /** Its path on the site without `.html`; one that ends with `/` is the first page of a folder. */
  readonly route: string
  readonly title: string
  /** The Markdown file that it shows, relative to the checkout; none when the build makes the page. */
  readonly source?: string
}

/** A group of pages in the sidebar. */
export interface Section {
  readonly title: string
  readonly pages: readonly SitePage[]
  /** Closed until one of its pages is open. */
  readonly isCollapsed?: boolean
}

const page = (route: string, title: string, source?: string): SitePage => ({
  route,
  title,
  ...(source === undefined ? {} : { source }),
})

/** The first heading of a Markdown file, without markup. */
function headingOf(source: string): string {
  const [, heading = source] = /^# +(.+)$/m.exec(readFileSync(join(root, source), 'utf8')) ?? []
  return heading.replaceAll('`', '')
}

const find = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).sort()

const decisions = find('docs/decisions/[0-9]*.md').map((source) =>
  page(`/${source.slice('docs/'.length, -'.md'.length)}`, headingOf(source), source),
)

// The packages have places of their own.
const folders = find('src/**/README.md')
  .filter((source) => !/^src\/(?:abci|client|create|store)\//.test(source))
  .map((source) => {
    const folder = source.slice(0, -'/README.md'.length)
    return page(`/${folder}/`, folder, source)
  })

/** The sections of the sidebar. Every Markdown file that the project publishes has one place here. */
export const sections: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      page('/', 'What svcd is', 'README.md'),
      page('/first-steps', 'First steps'),
      page('/page', 'The web page', 'docs/page.md'),
      page('/staking', 'Staking', 'docs/staking.md'),
      page('/devnet', 'A devnet for builders', 'docs/devnet.md'),
    ],
  },
  {
    title: 'Use the chain',
    pages: [
      page('/client', 'The client', 'docs/client.md'),
      page('/client-package', '@svcd/client', 'src/client/README.md'),
      page('/examples/page', 'Example: a web page', 'examples/page/README.md'),
      page('/reference/methods', 'JSON-RPC methods', 'docs/reference/methods.md'),
      page('/playground', 'Playground'),
    ],
  },
  {
    title: 'Understand it',
    pages: [
      page('/interface', 'The interface', 'docs/interface.md'),
      page('/protocol', 'The protocol', 'docs/protocol.md'),
    ],
  },
  {
    title: 'Run it',
    pages: [
      page('/operations', 'Operations', 'docs/operations.md'),
      page('/containers', 'Containers', 'docs/containers.md'),
    ],
  },
  {
    title: 'Your own chain',
    pages: [
      page('/own-chain', 'Write your own chain', 'docs/own-chain.md'),
      page('/abci', '@svcd/abci', 'src/abci/README.md'),
      page('/abci-requests', 'What requests contain', 'docs/abci-requests.md'),
      page('/store', '@svcd/store', 'src/store/README.md'),
      page('/create', '@svcd/create', 'src/create/README.md'),
      page('/examples/names', 'Example: names', 'examples/names/README.md'),
      page('/examples/names/agents', 'Example: names, for tools', 'examples/names/AGENTS.md'),
      page('/examples/kvstore', 'Example: key-value store', 'examples/kvstore/README.md'),
      page('/examples/counter', 'Example: counter', 'examples/counter/README.md'),
      page('/examples/mempool', 'Example: a mempool of its own', 'examples/mempool/README.md'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('/reference/', 'Overview', 'docs/reference/README.md'),
      page('/reference/commands', 'Commands', 'docs/reference/commands.md'),
      page('/reference/configuration', 'Configuration', 'docs/reference/configuration.md'),
      page('/reference/dependencies', 'Dependencies', 'docs/reference/dependencies.md'),
      page('/reference/events', 'Events', 'docs/reference/events.md'),
      page('/reference/errors', 'Errors', 'docs/reference/errors.md'),
      page('/reference/limits', 'Limits', 'docs/reference/limits.md'),
      page('/reference/metrics', 'Metrics', 'docs/reference/metrics.md'),
      page('/reference/parameters', 'Parameters', 'docs/reference/parameters.md'),
      page('/api/client', 'API: svcd/client'),
      page('/api/web3-plugin', 'API: svcd/web3-plugin'),
      page('/api/devnet', 'API: svcd/devnet'),
      page('/api/abci', 'API: svcd/abci'),
      page('/api/store', 'API: svcd/store'),
      page('/api/abci-testing', 'API: svcd/abci/testing'),
      page('/api/abci-node', 'API: svcd/abci/node'),
    ],
  },
  {
    title: 'What to expect',
    pages: [
      page('/performance', 'Performance', 'docs/performance.md'),
      page('/performance-figures', 'Figures of the benchmark', 'docs/performance-figures.md'),
      page('/reliability', 'Reliability', 'docs/reliability.md'),
      page('/threat-model', 'Threat model', 'docs/threat-model.md'),
    ],
  },
  {
    title: 'Inside',
    pages: [
      page('/architecture', 'Architecture', 'docs/architecture.md'),
      page('/inside-the-store', 'Inside the store', 'docs/inside-the-store.md'),
      page('/decisions/', 'Decisions', 'docs/decisions/README.md'),
      page('/glossary', 'Glossary', 'docs/glossary.md'),
    ],
  },
  { title: 'Each decision', pages: decisions, isCollapsed: true },
  { title: 'Folders of the code', pages: folders, isCollapsed: true },
  {
    title: 'Project',
    pages: [
      page('/changelog', 'Changelog', 'CHANGELOG.md'),
      page('/contributing', 'Contributing', 'CONTRIBUTING.md'),
      page('/agents', 'For tools that change the code', 'AGENTS.md'),
      page('/security', 'Security policy', 'SECURITY.md'),
    ],
  },
]

/** Every page of the sidebar. */
export const sitePages: readonly SitePage[] = sections.flatMap(({ pages }) => pages)

/** The file of a page among the staged ones, such as `reference/index.md`. */
export const fileOf = (route: string): string => `${route.replace(/\/$/, '/index').slice(1)}.md`
