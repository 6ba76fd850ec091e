/** The skeleton of a query. */
import { upper, words } from '../names.ts'
import type { Skeleton } from './write.ts'

/** What callers know a query by. */
export const namesOf = (module: string, name: string) => ({
  path: `/${module}/${words(name, '-')}`,
  method: `svc_query${upper(name)}`,
  /** The exported constant. */
  query: `query${upper(name)}`,
})

function queryFile(module: string, name: string): string {
  const { path, method, query } = namesOf(module, name)
  const isOfAccounts = module === 'accounts'
  const call = isOfAccounts ? '' : `\n  call: '${module}.${query}',`
  return `import { field, optional } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount, uint } from '../../../values/number.ts'
import { listOf, record } from '../../../values/shape.ts'
import { accounts } from '${isOfAccounts ? '..' : '../../accounts'}/keeper.ts'
import { defineQuery, pageOf } from '../../query.ts'

/** The most rows of one answer. */
const ROWS_MAX = 20

const row = record('${upper(name)}Row', { address, balance: amount })

/** Say here in one sentence what it answers. Source: protocol.md §8. */
export const ${query} = defineQuery({
  method: '${method}',${call}
  path: '${path}',
  doc: 'Say here in one sentence what it answers.',
  input: { limit: optional(field(uint, \`most rows to answer; \${ROWS_MAX} when left out, and never more\`)) },
  result: listOf(row),
  // Cost: the rows that it answers. A list without such a limit is declared with defineListQuery and \`page\`.
  run: ({ state }, { limit = ROWS_MAX }) => [
    ...pageOf(state.scan(accounts), { limit: Math.min(limit, ROWS_MAX) }, (account) => account),
  ],
})
`
}

function testFile(module: string, name: string): string {
  const { path } = namesOf(module, name)
  return `import { describe, expect, test } from '@jest/globals'
import { accounts } from '../../../src/modules/accounts/keeper.ts'
import { startChain } from '../support.ts'

describe('${path}', () => {
  test('say here what it answers', () => {
    const chain = startChain()
    const rows = [...chain.store.scan(accounts)].map(({ address, balance }) => ({ address, balance: String(balance) }))
    expect(rows.length).toBeGreaterThan(20)
    expect(chain.query('${path}?limit=2')).toEqual(rows.slice(0, 2))
    for (const search of ['', '?limit=20', '?limit=21'])
      expect(chain.query(\`${path}\${search}\`)).toEqual(rows.slice(0, 20))
  })

  test('a limit that is no number is refused', () => {
    expect(startChain().abciQuery('${path}?limit=x')).toMatchObject({
      code: 20,
      log: 'Invalid parameter: limit: expected a decimal integer, got "x"',
    })
  })
})
`
}

/** What a query of a module becomes. */
export const querySkeleton = (module: string, name: string): Skeleton => ({
  files: {
    [`src/modules/${module}/queries/${name}.ts`]: queryFile(module, name),
    [`test/modules/${module}/${name}.test.ts`]: testFile(module, name),
  },
  edits: [],
})
