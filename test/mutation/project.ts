import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Explained, Project } from './campaign.ts'

const FOLDERS = [
  'app',
  'base',
  'chain',
  'client',
  'codec',
  'conformance',
  'ics23',
  'model',
  'modules',
  'sim',
  'store',
  'tx',
  'values',
  'vectors',
]

export const MUTATED = ['src/modules', 'src/codec', 'src/tx', 'src/store']

/** This project with its tests that start no node. */
export const project: Project = {
  root: join(import.meta.dirname, '../..'),
  sources: MUTATED.map((folder) => `${folder}/**/*.ts`),
  // The examples of the client are checked by a compiler, and need the whole project.
  tests: [
    ...FOLDERS.map((folder) => `test/${folder}/**/!(examples|docs).test.ts`),
    // What a peer and a caller are told of what the codec and a query refuse.
    'test/abci/{baseApplication,blockFold,golden}.test.ts',
    'test/node/query*.test.ts',
  ],
  explained: JSON.parse(readFileSync(join(import.meta.dirname, 'explained.json'), 'utf8')) as Explained[],
}
