/** Builds dist, the package as it is published: compiled modules and types, the generated code and the web page. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from './compile.ts'
import { buildPage } from './page.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

await buildPage()
compile(dist)
// Without the hash of what the page was made from.
cpSync(join(root, 'src/dashboard/gen'), join(dist, 'dashboard/gen'), {
  recursive: true,
  filter: (from) => !from.endsWith('.sha256'),
})
