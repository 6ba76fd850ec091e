/**
 * Writes the generated tables of docs/reference and docs/client.md: `node tools/reference.ts`. A table stands between
 * `<!-- name -->` and `<!-- /name -->`; everything around it is written by people. With `--check` nothing is written, and
 * the exit status is 1 when a table differs from the code it describes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { withClientSections } from './reference/client.ts'
import * as commands from './reference/commands.ts'
import * as dependencies from './reference/dependencies.ts'
import { rpcErrorsTable, txErrorsTable } from './reference/errors.ts'
import {
  chainLimitsTable,
  devnetLimitsTable,
  gatewayLimitsTable,
  nodeLimitsTable,
  paramsTable,
  portsTable,
} from './reference/limits.ts'
import { eventsTable } from './reference/events.ts'
import { fieldsTable, methodsTable, pathsTable, typedDataTable } from './reference/methods.ts'
import { appMetricsTable, gatewayMetricsTable } from './reference/metrics.ts'

const TABLES: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'methods.md': { methods: methodsTable, fields: fieldsTable, 'typed data': typedDataTable, paths: pathsTable },
  'events.md': { events: eventsTable },
  'errors.md': { 'rpc errors': rpcErrorsTable, 'transaction errors': txErrorsTable },
  'parameters.md': { parameters: paramsTable },
  'limits.md': {
    chain: chainLimitsTable,
    node: nodeLimitsTable,
    gateway: gatewayLimitsTable,
    devnet: devnetLimitsTable,
  },
  'commands.md': {
    list: commands.commandsTable,
    'common flags': commands.commonFlagsTable,
    commands: commands.commandSections,
  },
  'configuration.md': { variables: commands.variablesTable, ports: portsTable },
  'dependencies.md': {
    libraries: dependencies.librariesTable,
    tools: dependencies.toolsTable,
    'install scripts': dependencies.scriptsTable,
    advisories: dependencies.advisoriesTable,
  },
  'metrics.md': { application: appMetricsTable, gateway: gatewayMetricsTable },
}

const docs = new URL('../docs/', import.meta.url)

/** Brings a page up to date, or with `--check` says that it is not. */
async function update(file: string, renew: (text: string) => string | Promise<string>): Promise<void> {
  const path = new URL(file, docs)
  const before = readFileSync(path, 'utf8')
  const text = await renew(before)
  if (text === before) return
  if (process.argv.includes('--check')) {
    process.stderr.write(`docs/${file}: its tables differ from the code; run \`npm run reference\`\n`)
    process.exitCode = 1
  } else writeFileSync(path, text)
}

for (const [file, tables] of Object.entries(TABLES)) {
  await update(`reference/${file}`, async (before) => {
    let text = before
    for (const [name, make] of Object.entries(tables)) {
      const found = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`)
      if (!found.test(text)) throw new Error(`docs/reference/${file} has no place for the table "${name}"`)
      const made = await make()
      text = text.replace(found, () => `<!-- ${name} -->\n${made}\n<!-- /${name} -->`)
    }
    return text
  })
}
await update('client.md', withClientSections)
