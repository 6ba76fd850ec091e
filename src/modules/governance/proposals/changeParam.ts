import { invalidParameter } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { text } from '../../../values/text.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { limited } from '../../../values/valueType.ts'
import { defineEvent } from '../../event.ts'
import { PARAMETER_NAMES, putParam, readValue } from '../../params/keeper.ts'
import { defineProposal, expiringFields, propose, type ProposalKind } from './proposal.ts'

declare module '../tables.ts' {
  interface OwnColumns {
    readonly change_param: 'name' | 'value'
  }
}

/** Source: interface, proposeChangeParam; protocol.md §6. */
export const proposeChangeParam = defineProposal({
  operation: 'proposeChangeParam',
  doc: 'Proposes a new value of a system parameter.',
  input: {
    name: field(limited(text, { oneOf: PARAMETER_NAMES }), 'parameter name'),
    value: field(text, 'new value, as text'),
    ...expiringFields,
  },
  event: defineEvent({
    type: 'svc.governance.proposeChangeParam',
    attributes: ['proposal_id', 'name'],
    doc: 'A new value of a parameter was proposed.',
  }),
  execute: (context, given) => {
    const { name, value } = given
    return propose(context, {
      fields: { type: 'change_param', name, value },
      reason: given.reason,
      height: given.expireBlockHeight,
      timestamp: given.expireTimestamp,
      rules: () => {
        const read = readValue(name, value)
        return 'why' in read ? invalidParameter(read.why) : undefined
      },
      attributes: { name },
    })
  },
})

const shape = record('ParameterChangeDetail', { name: text, value: text, reason: text })

/** Changes a system parameter from the next block on. Source: protocol.md §6, change_param. */
export const changeParam: ProposalKind<'change_param', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at approval',
  carryOut: (state, block, proposal) => {
    const { name, value } = proposal
    const read = readValue(name, value)
    if ('why' in read) throw new Error(`governance: an approved change that no rule allows: ${read.why}`)
    putParam(state, name, block.height + 1, read.text)
    return { proposal }
  },
  detail: ({ name, value, reason: why }) => ({ name, value, reason: why }),
}
