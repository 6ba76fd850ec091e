import type { Facts } from '../wallet/facts.ts'
import { formatCount, formatRatio } from '../format.ts'
import { candidacyFields, isRaiseThatWaits, missingStake } from './candidacy.ts'
import { type Input, listed, type OperationPage, type Outflow, stakeOf, tokens } from './operation.ts'

/** The parts of a candidacy that an update changes. */
const PARTS: Readonly<Record<keyof Input<'updateCandidacy'>, string>> = {
  pubKey: 'its key',
  description: 'its description',
  maxAmount: 'the most shares it may hold',
  compRate: 'its commission',
}

function outflow({ maxAmount }: Input<'updateCandidacy'>, { candidacy, params }: Facts): Outflow | undefined {
  if (maxAmount === undefined) return undefined
  return stakeOf(missingStake(BigInt(maxAmount), BigInt(candidacy?.stake.self_shares ?? 0), params))
}

/** In how many blocks a commission is in force: a raise waits, so that whoever disagrees can leave before. */
const waitOf = (compRate: string, { candidacy, params }: Facts): number =>
  candidacy !== undefined && isRaiseThatWaits(compRate, candidacy.stake) ? params.unstake_wait_period : 0

const whenOf = (blocks: number): string => (blocks === 0 ? '' : ` in ${formatCount(blocks)} blocks`)

function sentence(input: Input<'updateCandidacy'>, facts: Facts): string {
  const { pubKey, description, maxAmount, compRate } = input
  const stake = outflow(input, facts)
  const parts = [
    pubKey === undefined ? '' : `its key becomes ${pubKey}`,
    description === undefined ? '' : `its ${listed(Object.keys(description))} change, so that it is no longer verified`,
    maxAmount === undefined ? '' : `it may hold at most ${tokens(maxAmount)}`,
    stake === undefined ? '' : `you stake ${tokens(stake.units)} more`,
    compRate === undefined ? '' : `its commission becomes ${formatRatio(compRate)}${whenOf(waitOf(compRate, facts))}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'Update your candidacy without a change.' : `Change your candidacy: ${listed(parts)}.`
}

export const updateCandidacy: OperationPage<'updateCandidacy'> = {
  title: 'Update',
  words: (message) => {
    const changed = Object.entries(PARTS).filter(([name]) => (message[name] ?? null) !== null)
    return changed.length === 0
      ? ['update the candidacy without a change']
      : [`update the candidacy: ${listed(changed.map(([, part]) => part))}`]
  },
  happened: () => ['updated the candidacy'],
  sentence,
  needs: () => ({ candidacy: true }),
  due: ({ compRate }, facts) => {
    const blocks = compRate === undefined ? 0 : waitOf(compRate, facts)
    return blocks === 0 ? undefined : { name: 'New commission', blocks }
  },
  outflow,
  fields: candidacyFields,
}
