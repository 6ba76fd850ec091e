import { divFloor } from '../../base/amount.ts'
import { isObject } from '../../base/json.ts'
import { parseAddress } from '../../values/address.ts'
import { SvcProofError } from '../errors.ts'
import { abortable, BATCH_MAX, type Call, resultOf } from '../transport.ts'
import type { VerifyOptions } from '../types.ts'
import {
  type ClaimedRow,
  headerAfter,
  lightOf,
  proofCall,
  readClaim,
  type Sources,
  type VerifiedHeader,
  verifyClaim,
  type WantedRow,
  wantedRow,
} from './proveRow.ts'
import { printRow } from './rows.ts'

// One module to load for whatever is verified: a page fetches a file less.
export { proveRow } from './proveRow.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * What an account has in the pool of a candidacy at the end of block `height`: the two rows that say it, proven by the
 * app hash in the header of the block after it, and what the account's units are worth by them.
 *
 * @example
 * const [first] = await svc.verified.stake.delegator.query(from)
 * const stake: VerifiedDelegation | undefined = first
 * console.log(stake?.validator_address, stake?.shares, stake?.delegation?.['units'])
 */
export interface VerifiedDelegation {
  readonly verified: true
  readonly height: number
  readonly header: VerifiedHeader
  readonly delegator_address: string
  readonly validator_address: string
  /** Base units: the delegation's `units` × the candidacy's `delegated` / its `delegation_units`, rounded down. */
  readonly shares: string
  /** The row of the delegation; null when it is proven that the account has nothing in the pool. */
  readonly delegation: Json | null
  /** The row of the candidacy. */
  readonly candidacy: Json
}

/**
 * The shares that svc_queryDelegator tells, by the owner of the candidacy. Entries of candidacies whose record is gone hold
 * nothing but what unbonds, and are left out.
 */
function readShares(answer: unknown) {
  const { height, data } = isObject(answer) ? answer : {}
  if (typeof height !== 'number' || !Array.isArray(data) || !data.every(isObject)) {
    throw new SvcProofError("the gateway's answer is no list of delegations")
  }
  const byOwner = new Map<string, string>()
  for (const entry of data) {
    const owner = parseAddress(String(entry['validator_address']))
    if (owner !== undefined) byOwner.set(owner, String(entry['shares']))
  }
  return { height, byOwner }
}

/** The delegation of an account in the pool that the claimed candidacy has. */
function delegationIn(candidacy: ClaimedRow, delegator: string): WantedRow {
  try {
    const { id, pool } = printRow('candidacies', candidacy.key, candidacy.value)
    return wantedRow('delegations', `${id}/${pool}/${delegator}`)
  } catch {
    throw new SvcProofError("the gateway's answer is no candidacy")
  }
}

/** The call of the gateway that lists the delegations of an account. */
const listCall = (delegator: string): Call => ({ method: 'svc_queryDelegator', params: [delegator] })

/** What the gateway claims of one delegation at one head. */
interface ClaimedDelegation {
  readonly owner: string
  readonly shares: string
  readonly candidacy: ClaimedRow
  readonly delegation: ClaimedRow
}

/** Reads claims at one head. Each delegation is claimed by two rows. */
interface Reader {
  readonly delegator: string
  readonly ask: (calls: readonly Call[]) => Promise<readonly unknown[]>
}

/** What is claimed of the delegations to these owners; undefined when a block came in between. */
async function claimsAtOneHead(
  { delegator, ask }: Reader,
  owners: readonly string[],
): Promise<readonly ClaimedDelegation[] | undefined> {
  const candidacies = owners.map((owner) => proofCall(wantedRow('candidacies', owner)))
  // The pool names the delegation, so the candidacies are asked for twice: to know the pool, and then at the same head.
  const before = (await ask(candidacies)).map(readClaim)
  const delegations = before.map((candidacy) => delegationIn(candidacy, delegator))
  const [list, ...rows] = await ask([listCall(delegator), ...candidacies, ...delegations.map(proofCall)])
  const { height, byOwner } = readShares(list)
  const claims = rows.map(readClaim)
  const found = owners.map((owner, at) => ({
    owner,
    shares: byOwner.get(owner),
    candidacy: claims[at] as ClaimedRow,
    delegation: claims[owners.length + at] as ClaimedRow,
  }))
  const isSamePool = ({ candidacy }: (typeof found)[0], at: number): boolean =>
    delegationIn(candidacy, delegator).key === delegations[at]?.key
  if (claims.some((claim) => claim.height !== height) || !found.every(isSamePool)) return undefined
  // A delegation that was withdrawn since the list was first read is in it no more.
  return found.flatMap(({ shares, ...claim }) => (shares === undefined ? [] : [{ ...claim, shares }]))
}

/** How often claims are read again because a block came in between. */
const TRIES_MAX = 20

async function needClaims(reader: Reader, owners: readonly string[]): Promise<readonly ClaimedDelegation[]> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const claims = await claimsAtOneHead(reader, owners)
    if (claims !== undefined) return claims
  }
  throw new SvcProofError(`the gateway's answers are of different heights, ${TRIES_MAX} times in turn`)
}

function verifyDelegation(
  { owner, shares, ...claim }: ClaimedDelegation,
  delegator: string,
  header: VerifiedHeader,
): VerifiedDelegation {
  const { height, data } = verifyClaim(wantedRow('candidacies', owner), claim.candidacy, header)
  const candidacy = data as Json // expectedKey takes no absence for a candidacy
  const { data: delegation } = verifyClaim(delegationIn(claim.candidacy, delegator), claim.delegation, header)
  const amountIn = (row: Json, column: string): bigint => BigInt(String(row[column]))
  const worth =
    delegation === null
      ? 0n
      : divFloor(
          amountIn(delegation, 'units') * amountIn(candidacy, 'delegated'),
          amountIn(candidacy, 'delegation_units'),
        )
  if (shares !== worth.toString()) {
    throw new SvcProofError(`the gateway says ${shares} for what is staked with ${owner}; by the state it is ${worth}`)
  }
  return {
    verified: true,
    height,
    header,
    delegator_address: delegator,
    validator_address: owner,
    shares,
    delegation,
    candidacy,
  }
}

/** As many delegations as one batch asks for, each with two rows, behind the list. */
const DELEGATIONS_MAX = Math.floor((BATCH_MAX - 1) / 2)

/**
 * Resolves with the delegations that the gateway lists of an account, each proven by its row and that of its candidacy,
 * and with the shares that these two say. Those of one question, DELEGATIONS_MAX, are of one head. That the gateway lists
 * all of them cannot be proven. Rejects as `proveRow` does, and when the gateway told other shares.
 */
export async function proveDelegations(
  sources: Sources,
  delegatorAddress: string,
  options: VerifyOptions,
): Promise<readonly VerifiedDelegation[]> {
  lightOf(sources)
  const delegator = parseAddress(delegatorAddress) ?? delegatorAddress
  const { byOwner } = readShares(await sources.transport.ask(listCall(delegator), options.signal))
  const ask: Reader['ask'] = async (calls) =>
    (await abortable(sources.transport.askAll(calls), options.signal)).map(resultOf)
  const owners = [...byOwner.keys()]
  const proven: VerifiedDelegation[] = []
  for (let start = 0; start < owners.length; start += DELEGATIONS_MAX) {
    const claims = await needClaims({ delegator, ask }, owners.slice(start, start + DELEGATIONS_MAX))
    const [first] = claims
    if (first === undefined) continue
    const header = await headerAfter(first.candidacy.height, sources, options)
    for (const claim of claims) proven.push(verifyDelegation(claim, delegator, header))
  }
  return proven
}
