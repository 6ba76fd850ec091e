import '../../governance/keeper.ts'
import '../../governance/proposal/pass.ts' // red: foreignImport
import '../keeper.ts'
