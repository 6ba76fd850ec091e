import '../keys/keystore.ts' // red: noRestrictedImports
import '../gateway/gateway.ts' // red: noRestrictedImports
import '../cli/main.ts' // red: noRestrictedImports
import '../modules/registry.ts'
import '../store/state.ts'
