import { parseAddress } from '../../base/address.ts'
import { toBase64 } from '../../base/bytes.ts'
import { tables } from '../../modules/registry.ts'
import { optional } from '../../tx/members.ts'
import type { Chain } from '../chain.ts'
import { RpcError } from '../errors.ts'
import { rowKey, rowTable } from '../members.ts'
import { provenRow } from '../schemas.ts'
import { defineMethod } from './define.ts'

const HASHED = tables.filter(({ hashed }) => hashed).map(({ name }) => name as string)

/** The id of an owner's candidacy. That an address owns none cannot be proven: the rows are hashed by id. */
async function candidacyOf(chain: Chain, owner: string): Promise<string> {
  const { data } = await chain.query(`/stake/candidacy-id/${owner}`)
  if (data === null) throw new RpcError('invalidParams', `key: ${owner} owns no candidacy, and that cannot be proven`)
  return String(data)
}

/** Source: protocol.md §8, §10. */
export const getProof = defineMethod({
  name: 'svc_getProof',
  doc: 'A row of the state at the head, with the ICS-23 proof of it or of its absence; a candidacy by its id or its owner.',
  input: { table: rowTable(HASHED), key: optional(rowKey()) },
  count: 2,
  errors: ['nodeAway'],
  result: provenRow,
  run: async ({ chain }, { table, key = '' }) => {
    const owner = table === 'candidacies' ? parseAddress(key) : undefined
    const rest = owner === undefined ? key : await candidacyOf(chain, owner)
    const { height, ...bytes } = await chain.prove(`/store/${table}${rest === '' ? '' : `/${rest}`}`)
    return { height, key: toBase64(bytes.key), value: toBase64(bytes.value), proof: toBase64(bytes.proof) }
  },
})
