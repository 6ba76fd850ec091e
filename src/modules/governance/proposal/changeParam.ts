import { putParam, readValue } from '../../params/keeper.ts'
import type { ProposalKind } from './kind.ts'

/** Changes a system parameter from the next block on. Source: protocol.md §6, change_param. */
export const changeParam: ProposalKind = {
  at: 'approval',
  carryOut: (state, block, { name, value }) => {
    const read = readValue(name, value)
    if ('why' in read) throw new Error(`governance: an approved change that no rule allows: ${read.why}`)
    putParam(state, name, block.height + 1, read.text)
    return {}
  },
  detail: ({ name, value, reason }) => ({ name, value, reason }),
}
