#!/usr/bin/env node
// The version check stands before every other import: better-sqlite3 brings down an older Node without a word.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  process.stderr.write(`svcd: Node 22.14 or newer is needed, this is ${process.versions.node}\n`)
  process.exit(2)
}
const { main } = await import('./main.ts')
await main(process.argv.slice(2))
