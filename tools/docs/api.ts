/** The API pages: what typedoc writes about the exports of the packages, as pages of the site. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { STAGED } from './stage.ts'

const TYPEDOC = join(import.meta.dirname, 'node_modules/typedoc/bin/typedoc')
const OPTIONS = join(import.meta.dirname, 'typedoc.json')
const OUT = join(import.meta.dirname, '../../.cache/docs/api')

/** By the name of a page: the export that it describes, and the file that typedoc writes about it. */
const MODULES: Readonly<Record<string, readonly [name: string, file: string]>> = {
  client: ['svcd/client', 'client.md'],
  'web3-plugin': ['svcd/web3-plugin', 'client/web3Plugin.md'],
  devnet: ['svcd/devnet', 'cli/devnet/startDevnet.md'],
  abci: ['svcd/abci', 'abci.md'],
  store: ['svcd/store', 'store.md'],
  'abci-testing': ['svcd/abci/testing', 'abci/testing.md'],
  'abci-node': ['svcd/abci/node', 'abci/node.md'],
}

const WARNING = 'Generated from the types and comments of the code.'

/** Stages the API pages. Throws with what typedoc printed when it fails or warns. */
export function stageApi(): void {
  rmSync(OUT, { recursive: true, force: true })
  const { status, stdout, stderr } = spawnSync(process.execPath, [TYPEDOC, '--options', OPTIONS], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
  })
  if (status !== 0) throw new Error(`typedoc failed:\n${stdout}${stderr}`)
  mkdirSync(join(STAGED, 'api'), { recursive: true })
  for (const [page, [name, file]] of Object.entries(MODULES)) {
    let text = readFileSync(join(OUT, file), 'utf8').replace(/^# .*$/m, `# ${name}\n\n${WARNING}`)
    // The pages stand side by side, the files of typedoc in folders.
    for (const [other, [, target]] of Object.entries(MODULES))
      text = text.replaceAll(`](${relative(dirname(file), target)}`, `](${other}.md`)
    writeFileSync(join(STAGED, `api/${page}.md`), text)
  }
}
