import '../modules/kernel.ts' // red: noRestrictedImports
import '../modules/stake/keeper.ts' // red: noRestrictedImports
import '../store/state.ts' // red: noRestrictedImports
import '../app/commit.ts' // red: noRestrictedImports
import '../cli/init.ts' // red: noRestrictedImports
import '../modules/registry.ts'
import '../modules/errors.ts'
import '../comet/rpc.ts'
import '../keys/keystore.ts'
