import '../base/bytes.ts' // red: noRestrictedImports
import 'node:fs'
