import {
  BlockIdFlag,
  type CommitInfo,
  type ConsensusParams,
  type Event,
  type Misbehavior,
  MisbehaviorType,
  type Timestamp,
  type ValidatorUpdate as WireUpdate,
} from '../abci/data.ts'
import type { ExecTxResult } from '../abci/types.ts'
import { addressOf } from '../base/address.ts'
import { pubKeyBytes } from '../base/pubKey.ts'
import type { ChainEvent } from '../modules/define.ts'
import type { EvidenceParams } from '../modules/endBlock.ts'
import type { Verdict } from '../modules/kernel.ts'
import type { CommitVote, Offence, ValidatorUpdate } from '../modules/stake/block.ts'

/** Block time in whole ms. Source: protocol.md §1, Time. */
export const timeMsOf = ({ seconds, nanos }: Timestamp): number => seconds * 1000 + Math.floor(nanos / 1_000_000)

/** The last commit of ABCI 2.0: signed unless the flag is absent. */
export function votesOf(commit: CommitInfo): readonly CommitVote[] {
  return commit.votes.map(({ validator, blockIdFlag }) => ({
    validator: addressOf(validator.address),
    power: validator.power,
    signed: blockIdFlag !== BlockIdFlag.absent,
  }))
}

/** The last commit of the 0.37 dialect, which says signed or not. */
export function legacyVotesOf(commit: CommitInfo): readonly CommitVote[] {
  return commit.votes.map(({ validator, signedLastBlock }) => ({
    validator: addressOf(validator.address),
    power: validator.power,
    signed: signedLastBlock,
  }))
}

/** Evidence that protocol.md §5 knows: duplicate votes and light-client attacks. */
export function offencesOf(evidence: readonly Misbehavior[]): readonly Offence[] {
  return evidence
    .filter(({ type }) => type === MisbehaviorType.duplicateVote || type === MisbehaviorType.lightClientAttack)
    .map(({ validator, height }) => ({ validator: addressOf(validator.address), height }))
}

/** Events with every attribute indexed. Source: protocol.md §9. */
export const printEvents = (events: readonly ChainEvent[]): readonly Event[] =>
  events.map(({ type, attributes }) => ({
    type,
    attributes: attributes.map(([key, value]) => ({ key, value, index: true })),
  }))

/** A verdict as a block result carries it, and without its events as CheckTx does. */
export const printVerdict = ({ code, log, data, gas, events }: Verdict, withEvents = true): ExecTxResult => ({
  code,
  log,
  data,
  gasWanted: gas,
  gasUsed: gas,
  events: withEvents ? printEvents(events) : [],
})

/** Changes of the validator set. */
export const printUpdates = (updates: readonly ValidatorUpdate[]): readonly WireUpdate[] =>
  updates.map(({ pubKey, power }) => ({ pubKey: { ed25519: pubKeyBytes(pubKey) }, power }))

/** The evidence group, whole. */
export const printEvidence = ({
  maxAgeNumBlocks,
  maxAgeDurationMs,
  maxBytes,
}: EvidenceParams): NonNullable<ConsensusParams['evidence']> => ({
  maxAgeNumBlocks,
  maxBytes,
  maxAgeDuration: { seconds: Math.floor(maxAgeDurationMs / 1000), nanos: (maxAgeDurationMs % 1000) * 1_000_000 },
})
