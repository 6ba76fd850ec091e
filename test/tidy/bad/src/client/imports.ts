import '../modules/registry.ts' // red: noRestrictedImports
import '../gateway/server.ts' // red: noRestrictedImports
import '../store/table.ts' // red: noRestrictedImports
import '../keys/mnemonic.ts'
import '../tx/sign.ts'
