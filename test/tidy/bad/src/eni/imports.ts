import '../codec/message.ts' // red: noRestrictedImports
import '../store/sqliteStore.ts' // red: noRestrictedImports
import '../modules/registry.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import '../store/index.ts' // red: noRestrictedImports
