import {
  BlockIdFlag,
  type CommitInfo,
  type Event,
  type ExecTxResult,
  type Misbehavior,
  MisbehaviorType,
  type Timestamp,
  type ValidatorUpdate as WireUpdate,
} from '../abci/types.ts'
import { type Address, addressOf } from '../values/address.ts'
import { pubKeyBytes } from '../values/pubKey.ts'
import { blockEvent, txEvent } from '../modules/chain/events.ts'
import type { ChainEvent } from '../modules/event.ts'
import type { Verdict } from '../modules/kernel.ts'
import { encodeShortfall } from '../tx/shortfall.ts'
import type { CommitVote, Offence, ValidatorUpdate } from '../modules/stake/block.ts'
import { stakeEvents } from '../modules/stake/events.ts'

/** A block's time in whole ms, rounded down. Source: protocol.md §1, Time. */
export const timeMsOf = ({ seconds, nanos }: Timestamp): number => seconds * 1000 + Math.floor(nanos / 1_000_000)

/** The votes of the last commit. In ABCI 2.0 a validator has signed unless its flag is `absent`; 0.37 says it in a member. */
export const votesOf = ({ votes }: CommitInfo, isLegacy = false): readonly CommitVote[] =>
  votes.map(({ validator, blockIdFlag, signedLastBlock }) => ({
    validator: addressOf(validator.address),
    power: validator.power,
    signed: isLegacy ? signedLastBlock : blockIdFlag !== BlockIdFlag.absent,
  }))

/** The evidence that protocol.md §5 punishes: duplicate votes and light-client attacks. */
export function offencesOf(evidence: readonly Misbehavior[]): readonly Offence[] {
  return evidence
    .filter(({ type }) => type === MisbehaviorType.duplicateVote || type === MisbehaviorType.lightClientAttack)
    .map(({ validator, height }) => ({ validator: addressOf(validator.address), height }))
}

/** An event in ABCI's form, with every attribute indexed. Source: protocol.md §9. */
function printEvent({ type, attributes: given }: ChainEvent): Event {
  const attributes = Object.keys(given).map((key) => ({ key, value: given[key] as string, index: true }))
  return { type, attributes }
}

/**
 * The events of a block itself, and for each validator that they are about one that finds the block, unless they are
 * only of its award, or the events `before` these in the block are about it too. Source: protocol.md §9.
 */
export const printBlockEvents = (
  events: readonly ChainEvent[],
  before: readonly ChainEvent[] = [],
): readonly Event[] => {
  const found = new Set(before.map(({ attributes: { owner } }) => owner))
  const owners = new Set(
    events.flatMap(({ type, attributes: { owner } }) =>
      owner === undefined || type === stakeEvents.award.type || found.has(owner) ? [] : [owner],
    ),
  )
  return [...events, ...[...owners].map((validator) => blockEvent.of({ validator }))].map(printEvent)
}

/** The accounts that a transaction concerns, each once. */
export function concernedBy({ accounts = [], validators = [] }: Verdict): readonly Address[] {
  const concerned = accounts.concat(validators)
  return concerned.filter((account, place) => concerned.indexOf(account) === place)
}

/** The events that find a transaction whatever its operation is, one for each account. Source: protocol.md §9. */
const foundBy = (verdict: Verdict): readonly ChainEvent[] =>
  concernedBy(verdict).map((account) =>
    txEvent.of(verdict.validators?.includes(account) ? { account, validator: account } : { account }),
  )

/** The `info` of a result: what a balance lacked, for callers. */
export const infoOf = ({ shortfall }: Verdict): string => (shortfall === undefined ? '' : encodeShortfall(shortfall))

/** A verdict as the result of a transaction; that of a check has no events. */
export const printVerdict = (verdict: Verdict): ExecTxResult => {
  const { code, log, data, gas, events } = verdict
  return {
    code,
    log,
    info: infoOf(verdict),
    data,
    gasWanted: gas,
    gasUsed: gas,
    events: [...events, ...foundBy(verdict)].map(printEvent),
  }
}

/** Changes of the validator set in ABCI's form. */
export const printUpdates = (updates: readonly ValidatorUpdate[]): readonly WireUpdate[] =>
  updates.map(({ pubKey, power }) => ({ pubKey: { ed25519: pubKeyBytes(pubKey) }, power }))
