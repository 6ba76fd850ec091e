import { invalidParameter } from '../../../base/txError.ts'
import { ruledText } from '../../../tx/members.ts'
import { defineTx } from '../../define.ts'
import { readValue } from '../../params/keeper.ts'
import { pointHeight, pointTimestamp, propose, reason } from './propose.ts'

/** Proposes a new value of a system parameter. Source: interface, proposeChangeParam; protocol.md §6. */
export const proposeChangeParam = defineTx({
  operation: 'proposeChangeParam',
  method: 'svc_proposeChangeParam',
  call: 'governance.proposeChangeParam',
  event: 'svc.governance.proposeChangeParam',
  doc: 'Proposes a new value of a system parameter.',
  input: {
    name: ruledText('parameter name'),
    value: ruledText('new value, as text'),
    reason: reason(),
    expireBlockHeight: pointHeight('the proposal expires'),
    expireTimestamp: pointTimestamp('the proposal expires'),
  },
  returns: 'ProposalID',
  gas: (params) => params.governanceProposal,
  execute: (context, { name, value, reason: why = '', expireBlockHeight, expireTimestamp }) =>
    propose(context, {
      type: 'change_param',
      point: { height: expireBlockHeight, timestamp: expireTimestamp },
      row: { name, value, reason: why },
      rules: () => {
        const read = readValue(name, value)
        return 'why' in read ? invalidParameter(read.why) : undefined
      },
    }),
})
