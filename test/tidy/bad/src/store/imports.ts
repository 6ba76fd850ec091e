import '../codec/state.ts' // red: noRestrictedImports
import '../values/pubKey.ts' // red: noRestrictedImports
import '../modules/registry.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/message.ts'
import '../values/column.ts'
import 'better-sqlite3'
