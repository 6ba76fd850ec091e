import '../store/table.ts' // red: noRestrictedImports
import '../codec/message.ts' // red: noRestrictedImports
import '../base/bytes.ts'
