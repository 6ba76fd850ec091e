import { printRatio } from '../../../base/amount.ts'
import { printTime } from '../../../base/time.ts'
import type { Candidacy } from '../tables.ts'
import { votingPower } from '../validatorSet.ts'
import type { Standing } from './standing.ts'

const yesNo = (value: boolean): string => (value ? 'Y' : 'N')

/** A public key as CometBFT's JSON has it. */
export const printPubKey = (value: string): { type: string; value: string } => ({
  type: 'tendermint/PubKeyEd25519',
  value,
})

/** The validator object of the interface. Source: interface, Validator object; protocol.md §3, §4. */
export function printValidator(candidacy: Candidacy, { powerCap, rank, isInSet }: Standing): Record<string, unknown> {
  const { name, website, location, email, profile } = candidacy
  const live = isInSet ? 'Validator' : 'Candidate'
  return {
    pub_key: printPubKey(candidacy.pubKey),
    owner_address: candidacy.ownerAddress,
    shares: candidacy.shares.toString(),
    voting_power: votingPower(candidacy, powerCap),
    max_shares: candidacy.maxShares.toString(),
    comp_rate: printRatio(candidacy.compRate),
    created_at: printTime(candidacy.createdAt),
    updated_at: printTime(candidacy.updatedAt),
    description: { name, website, location, email, profile },
    verified: yesNo(candidacy.verified),
    active: yesNo(candidacy.active),
    block_height: candidacy.blockHeight,
    rank,
    state: candidacy.withdrawn ? 'Withdrawn' : live,
  }
}
