import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { svc } from '../data/gateway.ts'
import { refresh } from '../data/questions.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { cometAddressOf, useValidatorSet } from '../data/validators.ts'
import { Short } from '../parts/text.tsx'
import { OwnerLink } from '../parts/ValidatorLink.tsx'

const NAMES = 'candidacies/names'

/**
 * Shows who proposed a block: the candidacy that has the key now, by its name. A key that no candidacy has any more
 * stands as CometBFT's address. The set is small and read with each block; the names of all candidacies only when an
 * owner comes who has none yet.
 */
export function useProposers(): (proposer: string) => ComponentChildren {
  const set = useValidatorSet()
  const all = useAnswer(NAMES, () => svc.async.stake.validator.list(), 'once')
  const candidacies = all.data?.data ?? []
  const names = new Map(candidacies.map(({ owner_address: owner, description }) => [owner, description.name]))
  const owners = new Map(candidacies.map((one) => [cometAddressOf(one.pub_key.value), one.owner_address]))
  for (const { pub_key: key, owner_address: owner } of set.data?.data ?? [])
    if (owner !== null) owners.set(cometAddressOf(key.value), owner)
  const unnamed = all.data === undefined ? '' : [...owners.values()].filter((owner) => !names.has(owner)).join()
  useEffect(() => {
    if (unnamed !== '') refresh(NAMES)
  }, [unnamed])
  return (proposer) => {
    const owner = owners.get(proposer)
    if (owner === undefined) return <Short text={proposer} />
    return <OwnerLink owner={owner} name={names.get(owner) ?? ''} />
  }
}
