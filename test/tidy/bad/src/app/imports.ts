import '../comet/rpc.ts' // red: noRestrictedImports
import '../keys/mnemonic.ts' // red: noRestrictedImports
import '../gateway/server.ts' // red: noRestrictedImports
import '../cli/init.ts' // red: noRestrictedImports
import '../codec/gen/abci.js' // red: noRestrictedImports
import '../abci/server.ts'
import '../modules/kernel.ts'
import '../store/sqliteStore.ts'
import '../eni/fetch.ts'
