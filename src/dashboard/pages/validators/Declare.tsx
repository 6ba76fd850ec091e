import type { TransactionResult } from '../../../client/index.ts'
import { stakeConstants } from '../../data/stakeConstants.ts'
import { useCandidacy } from '../../data/stakes.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatRatio } from '../../format.ts'
import { type Typing, unitsOf } from '../../forms/check.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { View } from '../../parts/layout.tsx'
import { Tokens } from '../../parts/text.tsx'
import { goTo } from '../../route.ts'
import { isWatched } from '../../wallet/act.ts'
import { currentAccount, useWallet } from '../../wallet/wallet.ts'
import { selfStake } from '../../operations/candidacy.ts'
import type { Params } from './candidacy.ts'
import { linkToValidator } from './parts.tsx'

/** What a declaration takes from the balance, as it is typed. */
function Staked({ typing, params, most }: { typing: Typing; params: Params; most: bigint }) {
  const typed = typing['maxAmount'] ?? ''
  const max = typed === '' ? most : unitsOf(typed)
  if (max === undefined) return null
  return (
    <p class='note'>
      You stake <Tokens units={selfStake(max, params)} decimals={18} />: {formatRatio(params.self_staking_ratio)} of{' '}
      <Tokens units={max} decimals={18} />
      {typed === '' ? ', the max shares where none are named' : ''}. Others may stake with you until the candidacy has
      so many. You get it back {formatCount(params.unstake_wait_period)} blocks after you withdraw.
    </p>
  )
}

/** That the account that acts has a candidacy already. */
function AlreadyOwner({ account }: { readonly account: string }) {
  const state = useCandidacy(account)?.state
  if (state === undefined || state === 'Withdrawn') return null
  return (
    <p class='note waiting'>
      Your account has <a href={linkToValidator(account)}>a candidacy</a> already. Each account can have one.
    </p>
  )
}

export function Declare() {
  const { current } = useWallet()
  const constants = useAnswer('stake-constants', stakeConstants, 'once').data
  const params = useAnswer('params', () => svc.async.governance.getParams()).data?.data
  const done = (result: TransactionResult): void => {
    const owner = currentAccount()
    if (owner !== undefined && isWatched(result)) goTo(linkToValidator(owner))
  }
  return (
    <View title='Declare a candidacy'>
      <div class='declare'>
        <div class='stack'>
          <p class='note waiting'>
            Declare only when your node runs. Without one you are removed after{' '}
            {constants === undefined ? 'some' : formatCount(constants.maxAbsentBlocks)} missed blocks in a row.
          </p>
          <p>
            A candidate with enough shares becomes a validator: its node signs blocks, and its owner votes on proposals.
            First start a node and let it catch up with the chain. Then read its public key on that machine:
          </p>
          <pre class='code'>cometbft show-validator --home HOME</pre>
          <p class='soft'>
            Paste the whole line that it prints, or only the base64 text in it. All of it can be changed later.
          </p>
        </div>
        <div class='stack'>
          {current === undefined ? null : <AlreadyOwner account={current} />}
          <OperationForm operation='declareCandidacy' submit='Declare' onDone={done}>
            {(typing) =>
              constants === undefined || params === undefined ? null : (
                <Staked typing={typing} params={params} most={constants.defaultMaxAmount} />
              )
            }
          </OperationForm>
        </div>
      </div>
    </View>
  )
}
