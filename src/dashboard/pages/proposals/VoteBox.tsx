import type { WholeProposal } from '../../data/proposals.ts'
import { Loading } from '../../parts/notes.tsx'
import { AccountLink, HeightLink } from '../../parts/text.tsx'
import { act } from '../../wallet/act.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { openWallet } from '../../wallet/walletDialog.ts'
import { Fee } from './New.tsx'
import { useVoters, WhoMay } from './WhoMay.tsx'

const WORDS = { Y: 'yes', N: 'no' } as const

/** Votes on an open proposal, for an account that may. */
export function VoteBox({ proposal }: { readonly proposal: WholeProposal }) {
  const { Id, Votes } = proposal
  const { current } = useWallet()
  const voters = useVoters()
  const given = Votes.find(({ Owner: owner }) => owner === current)
  const vote = (answer: 'Y' | 'N'): void => void act('vote', { proposalId: Id, answer })
  if (current === undefined) {
    return (
      <div class='vote-box'>
        <p>Validators vote. Open the account of one to vote here.</p>
        <button type='button' class='main' onClick={() => void openWallet()}>
          Open wallet
        </button>
      </div>
    )
  }
  if (voters === undefined) return <Loading lines={1} />
  if (!voters.includes(current)) return <WhoMay account={current} voters={voters} what='vote on proposals' />
  return (
    <div class='vote-box'>
      <p>
        {given === undefined ? (
          <>
            <AccountLink address={current} /> has not voted.
          </>
        ) : (
          <>
            {given.Voter === current ? null : 'The candidacy of '}
            <AccountLink address={current} /> voted <strong>{WORDS[given.Answer]}</strong> in block{' '}
            <HeightLink height={given.BlockHeight} />. Until the decision another vote replaces it.
          </>
        )}
      </p>
      <div class='actions'>
        {(['Y', 'N'] as const).map((answer) => (
          <button
            key={answer}
            type='button'
            class={WORDS[answer]}
            disabled={given?.Answer === answer}
            onClick={() => vote(answer)}
          >
            Vote {WORDS[answer]}
          </button>
        ))}
        <Fee operation='vote' />
      </div>
    </div>
  )
}
