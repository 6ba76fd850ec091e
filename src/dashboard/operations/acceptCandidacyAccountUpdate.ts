import { type OperationPage, pieceOf, tokens } from './operation.ts'
import { piece } from '../pieces.ts'

export const acceptCandidacyAccountUpdate: OperationPage<'acceptCandidacyAccountUpdate'> = {
  title: 'Accept',
  words: (message) => ['take over the candidacy of request ', pieceOf('request', message, 'accountUpdateRequestId')],
  happened: ({ request_id: id }) => ['took over the candidacy of request ', piece('request', id)],
  sentence: ({ accountUpdateRequestId: id }, { handOver }) => {
    if (handOver === undefined) return `Accept the hand-over with the number ${id}.`
    const { owner, stake } = handOver
    const what = stake.delegators === 0 ? 'its shares.' : 'their own shares. What others have staked with it stays.'
    return `Take over the candidacy of ${owner} and pay them ${tokens(stake.self_shares)} for ${what}`
  },
  needs: ({ accountUpdateRequestId: id }) => ({ handOver: Number(id) }),
  outflow: (_, { handOver }) =>
    handOver === undefined ? undefined : { name: 'Payment', units: BigInt(handOver.stake.self_shares) },
  fields: { accountUpdateRequestId: { label: 'Number of the request' } },
}
