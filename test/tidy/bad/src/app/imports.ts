import '../comet/rpc.ts' // red: noRestrictedImports
import '../keys/mnemonic.ts' // red: noRestrictedImports
import '../gateway/server.ts' // red: noRestrictedImports
import '../cli/init.ts' // red: noRestrictedImports
import '../codec/gen/abci.js' // red: noRestrictedImports
import '../abci/server.ts'
import '../modules/kernel.ts'
import '../store/sqlite/sqliteStore.ts' // red: noRestrictedImports
import '../store/index.ts'
import '../eni/fetch.ts'
