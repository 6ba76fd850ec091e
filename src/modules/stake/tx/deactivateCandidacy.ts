import { defineTx, effects, isError } from '../../define.ts'
import { getByOwner, putUpdated } from '../keeper.ts'
import { allowed } from '../transitions.ts'

/**
 * Takes the sender's candidacy out of the race for the validator set; its shares stay. Source: interface, deactivate;
 * protocol.md §3.
 */
export const deactivateCandidacy = defineTx({
  operation: 'deactivateCandidacy',
  method: 'svc_deactivateCandidacy',
  call: 'stake.validator.deactivate',
  event: 'svc.stake.deactivate',
  doc: "Deactivates the sender's candidacy; its shares stay.",
  input: {},
  gas: () => 0,
  execute: ({ state, block, sender }) => {
    const candidacy = allowed(getByOwner(state, sender), 'deactivate')
    if (isError(candidacy)) return candidacy
    return effects(() => {
      putUpdated(state, { ...candidacy, active: false }, block.time)
      return {
        attributes: [
          ['owner', sender],
          ['pub_key', candidacy.pubKey],
        ],
      }
    })
  },
})
