import { takeNumber } from '../../chain/keeper.ts'
import { defineTx, effects, isError } from '../../define.ts'
import { closePendingUpdate, getByOwner, putUpdated } from '../keeper.ts'
import { absences, unbondings } from '../tables.ts'
import { allowed } from '../transitions.ts'

/**
 * Ends the sender's candidacy: all shares become one unbonding entry, which is paid out unstake_wait_period blocks
 * later; the pubKey is free. Source: interface, withdraw; protocol.md §3.
 */
export const withdrawCandidacy = defineTx({
  operation: 'withdrawCandidacy',
  method: 'svc_withdrawCandidacy',
  call: 'stake.validator.withdraw',
  event: 'svc.stake.withdraw',
  doc: "Ends the sender's candidacy; its shares are paid out after unstake_wait_period blocks.",
  input: {},
  gas: () => 0,
  execute: ({ state, block, sender }) => {
    const candidacy = allowed(getByOwner(state, sender), 'withdraw')
    if (isError(candidacy)) return candidacy
    return effects(() => {
      state.put(unbondings, {
        number: takeNumber(state, 'nextUnbondingNumber'),
        candidacyId: candidacy.id,
        ownerAddress: sender,
        pubKey: candidacy.pubKey,
        amount: candidacy.shares,
        heightMade: block.height,
        heightPaid: block.height + block.params.unstakeWaitPeriod,
      })
      putUpdated(state, { ...candidacy, withdrawn: true, active: false, shares: 0n }, block.time)
      closePendingUpdate(state, candidacy.id, 'CANCELLED')
      state.remove(absences, { candidacyId: candidacy.id })
      return {
        attributes: [
          ['owner', sender],
          ['pub_key', candidacy.pubKey],
        ],
      }
    })
  },
})
