import '../modules/registry.ts' // red: noRestrictedImports
import '../store/table.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/message.ts'
import '../tx/sign.ts'
