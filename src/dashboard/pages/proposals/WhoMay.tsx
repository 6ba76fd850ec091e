import { useValidatorSet } from '../../data/validators.ts'
import { shorten } from '../../format.ts'
import { Names } from '../../parts/Names.tsx'

/** The accounts that may vote, or propose; undefined until they are known. Source: protocol.md §6, Who decides. */
export function useVoters(isProposing = false): readonly string[] | undefined {
  const members = useValidatorSet().data?.data.filter(({ proven }) => proven || !isProposing)
  // A candidacy that changes its key has two members.
  return members && [...new Set(members.flatMap(({ owner_address: owner }) => owner ?? []))]
}

/** That the account that acts may not do `what`, and who may. */
export function WhoMay({ account, voters, what }: { account: string; voters: readonly string[]; what: string }) {
  return (
    <div class='note'>
      <p>
        The open account, <span class='mono'>{shorten(account)}</span>, is not that of a validator that may {what}.
        These may:
      </p>
      <Names owners={voters} />
    </div>
  )
}
