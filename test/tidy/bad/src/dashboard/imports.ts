import '../gateway/server.ts' // red: noRestrictedImports
import '../codec/state.ts' // red: noRestrictedImports
import '../client/index.ts'
// The page's exports need no docstring.
export const shown = 1
