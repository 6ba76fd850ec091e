import '../codec/message.ts' // red: noRestrictedImports
import '../modules/registry.ts' // red: noRestrictedImports
import './bytes.ts'
import 'node:crypto'
