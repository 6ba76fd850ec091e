import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A function of the shell that stands for `sqlite3 FILE SQL`, which not every machine has. It runs a program that is written
 * into `folder`, and prints the rows.
 */
export function sqliteShell(folder: string): string {
  const program = join(folder, 'sqlite3.mjs')
  writeFileSync(
    program,
    `import Database from ${JSON.stringify(import.meta.resolve('better-sqlite3'))}
    const [path, sql] = process.argv.slice(2)
    const statement = new Database(path).prepare(sql)
    if (statement.reader) for (const row of statement.raw().all()) console.log(row.join('|'))
    else statement.run()`,
  )
  return `sqlite3() { "${process.execPath}" "${program}" "$@"; }`
}
