import { TOKEN } from '../src/base/amount.ts'
import { toBase64, toHex, utf8 } from '../src/base/bytes.ts'
import { sha256 } from '../src/base/sha256.ts'
import { signerAt, signersOf } from './accounts.ts'
import { GATEWAY_SENDERS, MIX_VOTERS, PEER_SENDERS, SENDERS, STAKED_WITH } from './load/pool.ts'

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

/** The candidacy of a sender: the node that has its key is a validator with nearly all of the power, or an equal part. */
const candidacyOf = (pubKey: string, owner: number): object => ({
  owner: signerAt('sender', owner).address,
  pub_key: pubKey,
  shares: units(10_000_000),
  max_shares: units(100_000_000),
})

// With a stake limit of 1 the node's candidacy keeps its power: it alone signs, the others are in the set and silent.
const chainOf = (pubKey: string, others: readonly object[], params: object, count = SENDERS, owner = 0) => ({
  params: { stake_limit: '1', ...params },
  stake: { max_absent_blocks: 1_000_000 },
  candidacies: [candidacyOf(pubKey, owner), ...others],
  accounts: [...signersOf('sender', count), ...signersOf('caller', GATEWAY_SENDERS)].map(account),
})

/** SENDERS accounts of 1,000 tokens, and the node's candidacy. */
export const transferGenesis = (pubKey: string): object => chainOf(pubKey, [], {})

/** The same with PEER_SENDERS accounts, as many as the chain of cosmos-sdk has. */
export const peerGenesis = (pubKey: string): object => chainOf(pubKey, [], {}, PEER_SENDERS)

/** The same with 199 candidacies beside the node's, four of all in the set, which is the default. */
export const queryGenesis = (pubKey: string): object => chainOf(pubKey, silent('candidate', 199), {})

/** The same with a validator for each of these keys, all of equal power. */
export const networkGenesis = ([first = '', ...others]: readonly string[]): object =>
  chainOf(
    first,
    others.map((pubKey, at) => candidacyOf(pubKey, at + 1)),
    { max_vals: others.length + 1 },
  )

/** transferGenesis with accounts that have next to nothing, until there are `count`: a short text for each. */
export const accountsGenesis =
  (count: number) =>
  (pubKey: string): object => {
    const chain = chainOf(pubKey, [], {})
    const more = Array.from({ length: count - chain.accounts.length }, (_, at) => ({
      address: `0x${toHex(sha256(utf8(`account ${at}`)).subarray(0, 20))}`,
      balance: '1',
    }))
    return { ...chain, accounts: [...chain.accounts, ...more] }
  }

/** Of `count` delegations of 1 token that `validators` share in turn, those with number `at`. */
export const delegationsWith = (
  at: number,
  { count, validators, delegatorAt }: { count: number; validators: number; delegatorAt: (number: number) => string },
): readonly object[] =>
  Array.from({ length: Math.ceil(Math.max(0, count - at) / validators) }, (_, turn) => ({
    delegator: delegatorAt(at + turn * validators),
    amount: units(1),
  }))

/**
 * peerGenesis with a candidacy of 10 tokens for each of the first MIX_VOTERS accounts, to which the others have
 * delegated 1 token each, in turn. One account more owns the node's candidacy, so that its power decides no proposal.
 */
export const mixGenesis = (pubKey: string): object => {
  const share = {
    count: PEER_SENDERS - MIX_VOTERS,
    validators: MIX_VOTERS,
    delegatorAt: (number: number) => signerAt('sender', MIX_VOTERS + number).address,
  }
  const voters = silent('sender', MIX_VOTERS, 10).map((candidacy, at) => ({
    ...candidacy,
    delegations: delegationsWith(at, share),
  }))
  return chainOf(pubKey, voters, { max_vals: MIX_VOTERS + 1 }, PEER_SENDERS + 1, PEER_SENDERS)
}

/** transferGenesis with STAKED_WITH validators more, all of the set, which share `count` delegations of 1 token. */
export const delegationsGenesis =
  (count: number) =>
  (pubKey: string): object => {
    const chain = chainOf(pubKey, silent('validator', STAKED_WITH, 10_000), { max_vals: STAKED_WITH + 1 })
    const [own, ...others] = chain.candidacies
    const candidacies = others.map((candidacy, at) => ({
      ...candidacy,
      delegations: delegationsWith(at, {
        count,
        validators: STAKED_WITH,
        delegatorAt: (number) => `0x${toHex(sha256(utf8(`delegator ${number}`)).subarray(0, 20))}`,
      }),
    }))
    return { ...chain, candidacies: [own, ...candidacies] }
  }
