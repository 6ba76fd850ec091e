import { withShares } from './candidacy.ts'
import { addressField, type OperationPage, pieceOf } from './operation.ts'
import { piece } from '../pieces.ts'

export const updateCandidacyAccount: OperationPage<'updateCandidacyAccount'> = {
  title: 'Hand over',
  words: (message) => ['offer the candidacy to ', pieceOf('account', message, 'newCandidateAccount')],
  happened: ({ request_id: id }) => ['offered the candidacy to another account: request ', piece('request', id)],
  sentence: ({ newCandidateAccount: to }, facts) =>
    `Offer your candidacy${withShares(facts)} to ${to}, who has to accept it and pays you for the shares.`,
  needs: () => ({ candidacy: true }),
  fields: { newCandidateAccount: addressField('New account') },
}
