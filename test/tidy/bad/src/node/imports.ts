import '../keys/keystore.ts' // red: noRestrictedImports
import '../gateway/gateway.ts' // red: noRestrictedImports
import '../cli/main.ts' // red: noRestrictedImports
import '../modules/registry.ts'
import type { State } from '../store/state.ts' // red: noRestrictedImports
export { openSqliteStore } from '../store/index.ts'
/** Its type. */
export type Other = State
