import '../abci/frame.ts' // red: noRestrictedImports
import '../gateway/server.ts' // red: noRestrictedImports
import '../store/state.ts' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/message.ts'
import 'node:net'
