import { expect, test } from '@jest/globals'
import { COMMANDS } from '../../src/cli/main.ts'
import { DEVNET_ACCOUNTS } from '../../src/cli/devnet/chain.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { pages, proseOf } from './pages.ts'

const WORDS =
  'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen'.split(' ')

/** How many there are of what the pages may count. */
const COUNTS: readonly (readonly [noun: RegExp, count: number])[] = [
  [/transaction types/, txEntries.length],
  [/(?:JSON-RPC )?methods/, methods.length],
  [/(?:svcd )?commands/, COMMANDS.length],
  [/(?:system )?parameters/, PARAMETERS.size],
  [/(?:funded|public|known) accounts/, DEVNET_ACCOUNTS],
]

/** The counts in a text that are wrong. */
function wrongCounts(text: string): readonly string[] {
  return COUNTS.flatMap(([noun, count]) =>
    [...text.matchAll(new RegExp(`\\b(\\d+|${WORDS.join('|')}) ${noun.source}\\b`, 'gi'))]
      .filter(([, said = '']) => count !== (/\d/.test(said) ? Number(said) : WORDS.indexOf(said.toLowerCase()) + 2))
      .map(([found]) => `${found}: there are ${count}`),
  )
}

test('a page that counts transaction types, methods, commands, parameters or accounts counts right', () => {
  // docs/interface.md is what users asked for, and counts nothing of ours.
  const wrong = pages
    .filter(({ path }) => path !== 'docs/interface.md')
    .flatMap(({ path, text }) => wrongCounts(proseOf(text).replace(/\s+/g, ' ')).map((one) => `${path}: ${one}`))
  expect(wrong).toEqual([])
})

test('a wrong count is found, in digits and in words', () => {
  expect(wrongCounts('It has 3 transaction types and two system parameters.')).toHaveLength(2)
  expect(wrongCounts(`It has ${PARAMETERS.size} parameters.`)).toEqual([])
})
