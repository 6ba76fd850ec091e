import { type OperationPage, pieceOf, textOf } from './operation.ts'

/** Marks a candidacy as verified or not, for the foundation. */
export const verifyCandidacy: OperationPage<'verifyCandidacy'> = {
  title: 'Verify',
  words: (message) => [
    'mark ',
    pieceOf('validator', message, 'candidateAddress'),
    textOf(message, 'verified') === 'Y' ? ' as verified' : ' as not verified',
  ],
  happened: () => ['had its verification set by the foundation'],
  sentence: ({ candidateAddress, verified }) =>
    `Mark the candidacy of ${candidateAddress} as ${verified === 'Y' ? 'verified' : 'not verified'}.`,
  fields: { candidateAddress: { label: 'Account of the candidacy' }, verified: { label: 'Verified' } },
}
