import '../gateway/server.ts' // red: noRestrictedImports
import '../codec/state.ts' // red: noRestrictedImports
import '../client/index.ts'
