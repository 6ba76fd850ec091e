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
import '../store/overlay.ts' // red: noRestrictedImports
import { openSqliteStore } from '../store/index.ts' // red: noRestrictedImports
import type { State } from '../store/state.ts'
import { table } from '../store/table.ts'
/** What is imported. */
export const imported: readonly unknown[] = [openSqliteStore, table, {} as State]
