import { useValidatorSet } from '../../data/validators.ts'
import { shorten } from '../../format.ts'
import { Names } from '../../parts/Names.tsx'

/** The accounts that may propose and vote; undefined until they are known. Source: protocol.md §6, Who decides. */
export function useVoters(): readonly string[] | undefined {
  return useValidatorSet().data?.data.flatMap(({ owner_address: owner }) => owner ?? [])
}

/** That the account that acts may not do `what`, and who may. */
export function WhoMay({ account, voters, what }: { account: string; voters: readonly string[]; what: string }) {
  return (
    <div class='note'>
      <p>
        The open account, <span class='mono'>{shorten(account)}</span>, is not that of a validator. These may {what}:
      </p>
      <Names owners={voters} />
    </div>
  )
}
