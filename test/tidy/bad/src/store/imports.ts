import '../codec/message.ts' // red: noRestrictedImports
import '../modules/stake/tables.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import 'better-sqlite3'
