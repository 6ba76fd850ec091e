/**
 * Writes the skeleton of a transaction type: `npm run new:tx <module> <name>`, as in `npm run new:tx accounts burn`. It
 * adds the message and its member of TxBody, the operation's file, its test, and what the page says of it. `npm run
 * new:tx governance proposeRaiseLimit`, or `npm run new:proposal raiseLimit`, writes a kind of proposal, `raise_limit`.
 * It says at the end what is left to do. Source: CONTRIBUTING.md, An operation.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { operationSkeleton } from './skeleton/operation.ts'
import { proposalSkeleton } from './skeleton/proposal.ts'
import { assertFree, assertName, runGenerator, SkeletonError, writeSkeleton } from './skeleton/write.ts'

/** Writes the skeleton into the project at `root`; returns the files that it wrote. Throws a SkeletonError. */
export function newTx(root: string, module: string, name: string): readonly string[] {
  assertName(name, 'updateCandidacy')
  if (!/^[a-z]+$/.test(module) || !existsSync(join(root, `proto/svc/${module}.proto`)))
    throw new SkeletonError(`${module}: expected a module with a file proto/svc/<module>.proto`)
  assertFree(root, name, new RegExp(`'(svc_${name})'`))
  const isProposal = module === 'governance' && /^propose[A-Z]/.test(name)
  return writeSkeleton(root, isProposal ? proposalSkeleton(name) : operationSkeleton(module, name))
}

/** Writes the skeleton that the command line names into this project. */
export const runNewTx = (module: string, name: string, usage: string): void =>
  runGenerator(
    () => newTx(join(import.meta.dirname, '..'), module, name),
    'Next: give the message its fields and the operation its rules, then run\n' +
      '  npm run gen && node_modules/.bin/biome check --write src test && npm run reference && npm run vectors && npm run examples\n' +
      'Describe the operation in docs/protocol.md and in the README of its module. CONTRIBUTING.md lists every place.\n',
    usage,
  )

if (import.meta.main) {
  const [module = '', name = ''] = process.argv.slice(2)
  runNewTx(module, name, 'npm run new:tx <module> <name>')
}
