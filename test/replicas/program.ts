/** The program as it is published, which also a Node runs that strips no types. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../tools/compile.ts'

/** One line of the program that a test changes, so that it sees the campaign fail. */
export interface Fault {
  /** Within dist. */
  readonly file: string
  readonly from: string
  readonly to: string
}

export const FAULTS = {
  timeZone: {
    file: 'app/convert.js',
    from: '=> seconds * 1000',
    to: '=> (seconds - 60 * new Date(seconds * 1000).getTimezoneOffset()) * 1000',
  },
  locale: {
    file: 'app/convert.js',
    from: 'value: given[key]',
    to: 'value: given[key].replace(/^[0-9]+$/, (digits) => BigInt(digits).toLocaleString())',
  },
} as const satisfies Readonly<Record<string, Fault>>

export interface Program {
  /** The file that Node runs. */
  readonly path: string
  readonly remove: () => void
}

const root = join(import.meta.dirname, '../..')

/** Builds the program, with a fault in it if one is given. Throws when the line of the fault is not there once. */
export function buildProgram(fault?: Fault): Program {
  // Within the project, so that its packages are found.
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/replicas-'))
  const dist = join(folder, 'dist')
  compile(dist)
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  if (fault !== undefined) {
    const path = join(dist, fault.file)
    const parts = readFileSync(path, 'utf8').split(fault.from)
    if (parts.length !== 2) throw new Error(`${fault.file} has ${parts.length - 1} times ${fault.from}`)
    writeFileSync(path, parts.join(fault.to))
  }
  return { path: join(dist, 'cli/svcd.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}
