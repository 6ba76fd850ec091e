import { TOKEN } from '../src/base/amount.ts'
import { toBase64, utf8 } from '../src/base/bytes.ts'
import { sha256 } from '../src/base/sha256.ts'
import { signersOf } from './accounts.ts'
import { GATEWAY_SENDERS, MIX_OWNERS, PEER_SENDERS, SENDERS } from './load/pool.ts'

/** Base units of whole tokens, as genesis has them. */
export const units = (tokens: number): string => (BigInt(tokens) * TOKEN).toString()
const account = ({ address }: { readonly address: string }): object => ({ address, balance: units(1000) })

/** Candidacies of a few tokens that no node has the key of. */
export const silent = (name: string, count: number, tokens = 1): readonly object[] =>
  signersOf(name, count).map(({ address }, at) => ({
    owner: address,
    pub_key: toBase64(sha256(utf8(`${name} key ${at}`))),
    shares: units(tokens),
    max_shares: units(10 * tokens),
    description: { name: `${name} ${at}` },
  }))

// With a stake limit of 1 the node's candidacy keeps its power: it alone signs, the others are in the set and silent.
const chainOf = (pubKey: string, others: readonly object[], params: object, count = SENDERS): object => {
  const senders = signersOf('sender', count)
  return {
    params: { stake_limit: '1', ...params },
    stake: { max_absent_blocks: 1_000_000 },
    candidacies: [
      { owner: senders[0]?.address, pub_key: pubKey, shares: units(10_000_000), max_shares: units(100_000_000) },
      ...others,
    ],
    accounts: [...senders, ...signersOf('owner', MIX_OWNERS), ...signersOf('caller', GATEWAY_SENDERS)].map(account),
  }
}

/** SENDERS accounts of 1,000 tokens, and the node's candidacy. */
export const transferGenesis = (pubKey: string): object => chainOf(pubKey, [], {})

/** The same with PEER_SENDERS accounts, as many as the chain of cosmos-sdk has. */
export const peerGenesis = (pubKey: string): object => chainOf(pubKey, [], {}, PEER_SENDERS)

/** The same with MIX_OWNERS candidacies in the set, and proposals that stay open for one block. */
export const mixGenesis = (pubKey: string): object =>
  chainOf(pubKey, silent('owner', MIX_OWNERS), { max_vals: MIX_OWNERS + 1, proposal_expire_period: 1 })

/** The same with 199 candidacies beside the node's, four of all in the set, which is the default. */
export const queryGenesis = (pubKey: string): object => chainOf(pubKey, silent('candidate', 199), {})
