import '../gateway/server.ts' // red: noRestrictedImports
import '../base/bytes.ts' // red: noRestrictedImports
import '../client/index.ts'
