import '../store/sqlite/sqliteStore.ts' // red: noRestrictedImports
import '../store/index.ts'
import '../app/app.ts'
