/**
 * Writes the generated tables of docs/reference: `node tools/reference.ts`. A table stands between `<!-- name -->` and
 * `<!-- /name -->`; everything around it is written by people. With `--check` nothing is written, and the exit status is
 * 1 when a table differs from the code it describes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import * as commands from './reference/commands.ts'
import { rpcErrorsTable, txErrorsTable } from './reference/errors.ts'
import { chainLimitsTable, gatewayLimitsTable, nodeLimitsTable, paramsTable } from './reference/limits.ts'
import { fieldsTable, methodsTable } from './reference/methods.ts'
import { appMetricsTable, gatewayMetricsTable } from './reference/metrics.ts'

const TABLES: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'methods.md': { methods: methodsTable, fields: fieldsTable },
  'errors.md': { 'rpc errors': rpcErrorsTable, 'transaction errors': txErrorsTable },
  'parameters.md': { parameters: paramsTable },
  'limits.md': { chain: chainLimitsTable, node: nodeLimitsTable, gateway: gatewayLimitsTable },
  'commands.md': {
    list: commands.commandsTable,
    'common flags': commands.commonFlagsTable,
    commands: commands.commandSections,
  },
  'configuration.md': { variables: commands.variablesTable },
  'metrics.md': { application: appMetricsTable, gateway: gatewayMetricsTable },
}

const isCheck = process.argv.includes('--check')
const folder = new URL('../docs/reference/', import.meta.url)

for (const [file, tables] of Object.entries(TABLES)) {
  const path = new URL(file, folder)
  const before = readFileSync(path, 'utf8')
  let text = before
  for (const [name, make] of Object.entries(tables)) {
    const found = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`)
    if (!found.test(text)) throw new Error(`docs/reference/${file} has no place for the table "${name}"`)
    const made = await make()
    text = text.replace(found, () => `<!-- ${name} -->\n${made}\n<!-- /${name} -->`)
  }
  if (text === before) continue
  if (isCheck) {
    process.stderr.write(`docs/reference/${file}: its tables differ from the code; run \`npm run reference\`\n`)
    process.exitCode = 1
  } else writeFileSync(path, text)
}
