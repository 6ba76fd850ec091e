import '../keys/mnemonic.ts' // red: noRestrictedImports
import '../app/commit.ts' // red: noRestrictedImports
import '../abci/frame.ts' // red: noRestrictedImports
import '../store/sqliteStore.ts' // red: noRestrictedImports
import '../codec/gen/svc.js' // red: noRestrictedImports
import 'node:fs' // red: noRestrictedImports
import 'node:fs/promises' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/message.ts'
import '../tx/fields.ts'
import '../store/table.ts'
import '../store/state.ts'
