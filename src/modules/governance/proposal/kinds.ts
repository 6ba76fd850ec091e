import type { ProposalType } from '../tables.ts'
import { changeParam } from './changeParam.ts'
import { deployLibEni } from './deployLibEni.ts'
import type { ProposalKind } from './kind.ts'
import { retireProgram } from './retireProgram.ts'
import { transferFund } from './transferFund.ts'

/** Every kind of proposal by the Type that queries show. */
export const proposalKinds: Readonly<Record<ProposalType, ProposalKind>> = {
  change_param: changeParam,
  deploy_libeni: deployLibEni,
  retire_program: retireProgram,
  transfer_fund: transferFund,
}
