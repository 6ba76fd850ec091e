import '../governance/keeper.ts'
import '../governance/types.ts'
import '../governance/tables.ts' // red: foreignImport
