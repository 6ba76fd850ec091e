import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const plain = 1 // red: docstring

/* Not a docstring. */
export function half(): number { // red: docstring
  return 1
}

/** Led by the docstring of something else. */
const other = 1

export interface Led { other: typeof other } // red: docstring

/** The first of two. */
export function twice(a: string): string
export function twice(a: number): number
export function twice(a: string | number): string | number {
  return a
}

/** A line that is too long: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx */ // red: lineCharacters
export const long = 1 // red: docstring

// TODO: later // red: toDo

/** Paths that hold on one machine only. */
export const paths = [
  '/root/.svcd', // red: machinePath
  '/home/someone', // red: machinePath
  '/tmp', // red: machinePath
  `/Users/someone`, // red: machinePath
  'https://example.org/home/page',
  'a/tmp/b',
]

/** Files of the folder that the program was started in. */
export const files = [
  readFileSync('README.md', 'utf8'), // red: workingFolder
  readFileSync('./README.md', 'utf8'), // red: workingFolder
  readFileSync('../docs/protocol.md', 'utf8'), // red: workingFolder
  readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8'),
]

/** A text that looks like the start of a comment. */
export const globs = ['src/**/*.ts']

export const afterGlobs = ['src/**/*.ts'] // red: docstring
