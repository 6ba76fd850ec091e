/** Where each block of code of the pages is run, or why it is not: the one list of both. */
import { type CodeBlock, codeBlocks } from './pages.ts'

/** One block of code, or all of a page's that look alike. */
export interface Example {
  readonly page: string
  /** What follows the opening fence; any when left out. */
  readonly info?: string | RegExp
  /** How the block begins; anyhow when left out. */
  readonly begins?: string
  /** The test file that runs it. It, or a file that it imports, takes the block from `examplesRunBy`. */
  readonly runBy?: string
  /** Why no test runs it, and what checks it instead. */
  readonly reason?: string
}

const DRAWING = 'a drawing'
const TARBALL = 'has a placeholder for the checkout; package.test.ts installs the same tarball'
const TWO_TERMINALS = 'runs until Ctrl-C, each in a terminal of its own; examples.test.ts starts both programs'
const LIGHT = 'has placeholders for a network; the tests of verified answers start it so (support/light.ts)'
const PLACEHOLDERS = 'has placeholders for hosts and ids of a network; samples.test.ts checks its commands and flags'

/** Every block of code of every page, in the order of the pages. */
export const EXAMPLES: readonly Example[] = [
  { page: 'CONTRIBUTING.md', info: 'sh', runBy: 'test/docs/examples.test.ts' },
  { page: 'README.md', begins: ' web3.svc', reason: DRAWING },
  {
    page: 'README.md',
    begins: 'make devnet     #',
    reason:
      'two run until Ctrl-C or run the tests; samples.test.ts checks the targets, docsSite.test.ts builds the site',
  },
  { page: 'README.md', begins: 'make devnet\n', reason: 'runs until Ctrl-C; tour.test.ts starts the same program' },
  { page: 'README.md', info: 'sh', runBy: 'test/e2e/tour.test.ts' },
  { page: 'README.md', info: 'ts', runBy: 'test/e2e/package.test.ts' },
  { page: 'docs/architecture.md', info: '', reason: DRAWING },
  { page: 'docs/client.md', info: /^js/, runBy: 'test/e2e/clientSigning.test.ts' },
  { page: 'docs/client.md', begins: 'cometbft light', reason: LIGHT },
  { page: 'docs/client.md', info: 'ts', runBy: 'test/e2e/clientSigning.test.ts' },
  {
    page: 'docs/containers.md',
    begins: 'docker pull',
    reason: 'has placeholders for a repository, whose registry it asks; release.test.ts checks how its image is made',
  },
  { page: 'docs/containers.md', info: 'sh', reason: 'needs a container engine; `make test-containers` runs it' },
  { page: 'docs/devnet.md', info: 'ts', runBy: 'test/e2e/startDevnet.test.ts' },
  { page: 'docs/devnet.md', info: 'sh', runBy: 'test/cli/commands.test.ts' },
  { page: 'docs/operations.md', begins: '# 1. The genesis file', reason: PLACEHOLDERS },
  {
    page: 'docs/operations.md',
    begins: 'svcd keys multisig team',
    reason: 'has the keys of people; wallets.test.ts runs the commands with keys of its own',
  },
  {
    page: 'docs/operations.md',
    begins: 'svcd tx stake declare --from team',
    reason: 'is run by several people; wallets.test.ts is all of them',
  },
  { page: 'docs/operations.md', begins: 'sudo useradd', reason: 'adds a user and services to a machine' },
  { page: 'docs/operations.md', begins: 'svcd node', reason: 'runs until a signal; test/cli/node.test.ts runs it' },
  { page: 'docs/operations.md', begins: 'priv_validator_laddr', reason: 'one line; samples.test.ts parses it' },
  {
    page: 'docs/operations.md',
    begins: 'go install github.com/cometbft/cometbft/cmd/priv_val_server',
    reason: 'builds a program of CometBFT, and moves the key of a validator',
  },
  { page: 'docs/operations.md', begins: 'svcd init --home node5', reason: PLACEHOLDERS },
  { page: 'docs/operations.md', begins: 'cometbft light', reason: LIGHT },
  { page: 'docs/operations.md', info: 'json', runBy: 'test/cli/settings.test.ts' },
  { page: 'docs/operations.md', begins: 'svcd snapshot restore', reason: PLACEHOLDERS },
  { page: 'docs/operations.md', begins: '$ svcd query validator', reason: 'an output; light.test.ts runs the command' },
  { page: 'docs/operations.md', info: 'nginx', runBy: 'test/e2e/scaleOut.test.ts' },
  { page: 'docs/operations.md', begins: '# 1. A role', runBy: 'test/e2e/scaleOut.test.ts' },
  { page: 'docs/operations.md', begins: '# 2. config/config.toml', runBy: 'test/e2e/scaleOut.test.ts' },
  { page: 'docs/operations.md', info: 'sql', runBy: 'test/e2e/scaleOut.test.ts' },
  { page: 'docs/operations.md', begins: 'journalctl', runBy: 'test/e2e/successor.test.ts' },
  { page: 'docs/operations.md', begins: 'sudo -u svcd svcd', runBy: 'test/e2e/successor.test.ts' },
  { page: 'docs/operations.md', begins: 'sudo npm install', runBy: 'test/e2e/successor.test.ts' },
  {
    page: 'docs/operations.md',
    begins: "sqlite3 data/state.db 'SELECT delegator",
    runBy: 'test/conformance/stakesView.test.ts',
  },
  { page: 'docs/operations.md', begins: 'sqlite3 ~/.svcd', runBy: 'test/store/sqlite/copyState.test.ts' },
  { page: 'docs/operations.md', begins: 'sqlite3 old/state.db', runBy: 'test/store/sqlite/compareStates.test.ts' },
  {
    page: 'docs/own-chain.md',
    begins: 'npm run pack',
    reason: 'two run until Ctrl-C; create.test.ts serves the same registry',
  },
  { page: 'docs/own-chain.md', runBy: 'test/e2e/create.test.ts' },
  { page: 'docs/reference/commands.md', info: 'sh', runBy: 'test/cli/commands.test.ts' },
  { page: 'docs/reference/configuration.md', info: 'json', runBy: 'test/cli/settings.test.ts' },
  {
    page: 'docs/reference/methods.md',
    begins: 'npx',
    reason: 'asks the public registry; openrpcTools.test.ts runs the same program on a gateway',
  },
  { page: 'src/node/README.md', begins: '  Commit', reason: DRAWING },
  { page: 'examples/counter/README.md', begins: 'npm run pack', runBy: 'test/e2e/package.test.ts' },
  { page: 'examples/counter/README.md', begins: 'curl', runBy: 'test/e2e/examples.test.ts' },
  { page: 'examples/kvstore/README.md', begins: 'npm run pack', runBy: 'test/e2e/package.test.ts' },
  { page: 'examples/kvstore/README.md', begins: 'cometbft init', reason: TWO_TERMINALS },
  { page: 'examples/kvstore/README.md', begins: 'curl', runBy: 'test/e2e/examples.test.ts' },
  { page: 'examples/kvstore/README.md', info: 'text', runBy: 'test/e2e/examples.test.ts' },
  { page: 'examples/mempool/README.md', begins: 'npm run pack', runBy: 'test/e2e/package.test.ts' },
  { page: 'examples/mempool/README.md', begins: 'cometbft init', reason: TWO_TERMINALS },
  { page: 'examples/mempool/README.md', begins: 'curl', runBy: 'test/e2e/examples.test.ts' },
  { page: 'examples/names/README.md', begins: 'npm install', runBy: 'test/e2e/create.test.ts' },
  { page: 'examples/names/README.md', begins: 'npm run tx', runBy: 'test/e2e/create.test.ts' },
  { page: 'examples/names/README.md', begins: 'npm run dev --', runBy: 'test/e2e/create.test.ts' },
  { page: 'examples/page/README.md', info: 'sh', runBy: 'test/e2e/examplePage.test.ts' },
  { page: 'src/create/README.md', runBy: 'test/e2e/create.test.ts' },
  { page: 'src/abci/README.md', begins: 'npm install', reason: TARBALL },
  { page: 'src/abci/README.md', info: 'ts', runBy: 'test/e2e/package.test.ts' },
  {
    page: 'src/abci/README.md',
    begins: "import { startAbciServer } from '@svcd/abci'\nimport { startNode }",
    reason: 'needs an application; create.test.ts runs a program with the same calls, samples.test.ts compiles it',
  },
  { page: 'src/abci/README.md', begins: 'go install', reason: TWO_TERMINALS },
  { page: 'src/abci/README.md', begins: 'curl', runBy: 'test/e2e/examples.test.ts' },
  { page: 'src/abci/README.md', begins: 'RequirementError', runBy: 'test/abci/testing/wrongApplications.test.ts' },
  { page: 'src/abci/README.md', info: 'text', runBy: 'test/abci/baseApplication.test.ts' },
  { page: 'src/client/README.md', info: 'sh', reason: TARBALL },
  { page: 'src/client/README.md', info: 'ts', runBy: 'test/e2e/package.test.ts' },
  { page: 'src/eni/README.md', reason: DRAWING },
  { page: 'src/gateway/README.md', reason: DRAWING },
  { page: 'src/modules/governance/README.md', reason: DRAWING },
  { page: 'src/store/README.md', begins: 'npm install', reason: TARBALL },
  { page: 'src/store/README.md', info: /^(?:ts|text)$/, runBy: 'test/e2e/package.test.ts' },
]

/** True when a line of the list is about this block. */
export const isAbout = ({ page, info, begins = '' }: Example, block: CodeBlock): boolean =>
  block.path === page &&
  block.code.startsWith(begins) &&
  (info === undefined || (typeof info === 'string' ? block.info === info : info.test(block.info)))

/** The line about a block: of two, the one that says how it begins. */
export const exampleOf = (block: CodeBlock, examples = EXAMPLES): readonly Example[] => {
  const about = examples.filter((example) => isAbout(example, block))
  const exact = about.filter(({ begins }) => begins !== undefined)
  return exact.length > 0 ? exact : about
}

/** The blocks that a test file runs, of all pages or of one, in their order. Throws when there is none. */
export function examplesRunBy(test: string, page?: string): readonly [CodeBlock, ...CodeBlock[]] {
  const [first, ...others] = codeBlocks.filter(
    (block) => (page === undefined || block.path === page) && exampleOf(block)[0]?.runBy === test,
  )
  if (first === undefined) throw new Error(`test/docs/examples.ts has no block of code for ${test}`)
  return [first, ...others]
}
