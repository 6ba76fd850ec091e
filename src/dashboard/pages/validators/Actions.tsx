import type { QueryAccountUpdatesResult } from '../../../client/index.ts'
import { stakeConstants } from '../../data/stakeConstants.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { Section } from '../../parts/layout.tsx'
import { lazyPart } from '../../parts/lazyView.tsx'
import { AccountLink, Tokens } from '../../parts/text.tsx'
import { goTo } from '../../route.ts'
import { act, isWatched } from '../../wallet/act.ts'
import { choose, useWallet } from '../../wallet/wallet.ts'
import { openWallet } from '../../wallet/walletDialog.ts'
import type { Stake } from '../../wallet/facts.ts'
import type { Candidate } from '../../data/validators.ts'
import type { Candidacy, Params } from './candidacy.ts'
import { linkToValidator } from './parts.tsx'
import type { Unbonding } from './StatusNote.tsx'

const OwnerActions = lazyPart(async () => (await import('./OwnerActions.tsx')).OwnerActions)

/** A request to hand a candidacy over that waits for its answer. */
export type HandOver = QueryAccountUpdatesResult['data'][number]

/** What the buttons of a candidacy are made from. */
export interface ActionsProps {
  readonly candidacy: Candidacy
  readonly stake: Stake
  readonly params: Params
  readonly unbonding: readonly Unbonding[]
  readonly handOvers: readonly HandOver[]
}

/** What the account can do to which a candidacy is offered. */
function AcceptOffer({ stake, offer }: { readonly stake: Stake; readonly offer: HandOver }) {
  const accept = async (): Promise<void> => {
    const result = await act('acceptCandidacyAccountUpdate', { accountUpdateRequestId: offer.id })
    if (result !== undefined && isWatched(result)) goTo(linkToValidator(offer.to))
  }
  return (
    <Section title='Offered to you'>
      <div class='stack'>
        <p>
          Its owner wants to hand this candidacy over to your account. You pay{' '}
          <Tokens units={stake.self_shares} decimals={18} /> for {stake.delegators === 0 ? 'its' : "its owner's"}{' '}
          shares, which are then yours, with its key and everything else that it has.
          {stake.delegators > 0 && ' What others have staked with it stays theirs.'}
        </p>
        <div class='actions'>
          <button type='button' class='main' onClick={() => void accept()}>
            Accept
          </button>
        </div>
      </div>
    </Section>
  )
}

function Verify({ validator: { owner_address: candidateAddress, verified } }: { readonly validator: Candidate }) {
  const isVerified = verified === 'Y'
  return (
    <Section title='For the foundation'>
      <div class='actions'>
        <button
          type='button'
          onClick={() => void act('verifyCandidacy', { candidateAddress, verified: isVerified ? 'N' : 'Y' })}
        >
          {isVerified ? 'Take the verified mark away' : 'Mark as verified'}
        </button>
      </div>
    </Section>
  )
}

function WhoseAccount({ owner, isOpen }: { readonly owner: string; readonly isOpen: boolean }) {
  return (
    <p class='soft'>
      Only its owner <AccountLink address={owner} /> can change this candidacy.{' '}
      <button type='button' class='quiet' onClick={() => (isOpen ? choose(owner) : void openWallet())}>
        {isOpen ? 'Act as this account' : 'Open this account in the wallet'}
      </button>
    </p>
  )
}

/** What the account of the wallet can do with a candidacy. */
export function Actions(props: ActionsProps) {
  const { candidacy, stake, handOvers } = props
  const { validator } = candidacy
  const owner = validator.owner_address
  const { accounts, current } = useWallet()
  const constants = useAnswer('stake-constants', stakeConstants, 'once')
  const offer = handOvers.find(({ from, to }) => from === owner && to === current)
  const mayVerify =
    current !== undefined && constants.data?.foundationAddress === current && validator.state !== 'Withdrawn'
  return (
    <>
      {current === owner ? (
        <OwnerActions {...props} />
      ) : (
        <WhoseAccount owner={owner} isOpen={accounts.some(({ address }) => address === owner)} />
      )}
      {offer === undefined ? null : <AcceptOffer stake={stake} offer={offer} />}
      {mayVerify && <Verify validator={validator} />}
    </>
  )
}
