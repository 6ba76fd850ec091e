import { type OperationPage, pieceOf, tokens } from './operation.ts'
import { piece } from '../pieces.ts'

/** Takes over a candidacy. */
export const acceptCandidacyAccountUpdate: OperationPage<'acceptCandidacyAccountUpdate'> = {
  title: 'Accept',
  words: (message) => ['take over the candidacy of request ', pieceOf('request', message, 'accountUpdateRequestId')],
  happened: ({ request_id: id }) => ['took over the candidacy of request ', piece('request', id)],
  sentence: ({ accountUpdateRequestId: id }, { handOver }) =>
    handOver === undefined
      ? `Accept the hand-over with the number ${id}.`
      : `Take over the candidacy of ${handOver.owner} and pay them ${tokens(handOver.shares)} for its shares.`,
  needs: ({ accountUpdateRequestId: id }) => ({ handOver: Number(id) }),
  outflow: (_, { handOver }) => (handOver === undefined ? undefined : { name: 'Payment', units: handOver.shares }),
  fields: { accountUpdateRequestId: { label: 'Number of the request' } },
}
