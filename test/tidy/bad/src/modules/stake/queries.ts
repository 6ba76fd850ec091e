import '../governance/keeper.ts'
import '../governance/proposals/proposal.ts' // red: foreignImport
import './keeper.ts'
