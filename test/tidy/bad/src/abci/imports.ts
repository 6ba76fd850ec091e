import '../app/commit.ts' // red: noRestrictedImports
import '../store/state.ts' // red: noRestrictedImports
import '../modules/registry.ts' // red: noRestrictedImports
import '../tx/sign.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/gen/abci.js'
