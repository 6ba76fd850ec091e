import '../store/table.ts' // red: noRestrictedImports
import '../modules/registry.ts' // red: noRestrictedImports
import '../codec/gen/svc.js' // red: noRestrictedImports
import '../base/bytes.ts'
import '../codec/message.ts'
import type { Table } from '../store/table.ts' // red: noRestrictedImports
export { type Table as Other } from '../store/table.ts' // red: noRestrictedImports
export const later = import('../store/table.ts') // red: noRestrictedImports, docstring
export type Third = Table // red: docstring
