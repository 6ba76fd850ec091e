import { withShares } from './candidacy.ts'
import { addressField, type OperationPage, pieceOf } from './operation.ts'

/** Offers a candidacy to another account. */
export const updateCandidacyAccount: OperationPage<'updateCandidacyAccount'> = {
  title: 'Hand over',
  words: (message) => ['offer the candidacy to ', pieceOf('account', message, 'newCandidateAccount')],
  sentence: ({ newCandidateAccount: to }, facts) =>
    `Offer your candidacy${withShares(facts)} to ${to}, who has to accept it and pays you for the shares.`,
  needs: () => ({ candidacy: true }),
  fields: { newCandidateAccount: addressField('New account') },
}
