import { existsSync } from 'node:fs'
import { equalBytes, toHex } from '../../base/bytes.ts'
import { reasonOf } from '../../comet/errors.ts'
import { tables } from '../../modules/registry.ts'
import { openConnection } from '../../store/sqlite/connection.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import type { Finding } from './finding.ts'

function settings(path: string): Finding {
  const connection = openConnection(path, { readonly: true })
  try {
    const pragma = (name: string): string => String(connection.db.pragma(name, { simple: true }))
    const { length } = connection.db.pragma('quick_check(1)') as readonly unknown[]
    const sound = length === 1 && pragma('quick_check(1)') === 'ok'
    const found = `journal_mode ${pragma('journal_mode')}, synchronous ${pragma('synchronous')}, quick_check ${sound ? 'ok' : 'failed'}`
    if (sound) return { check: 'SQLite', verdict: 'ok', found }
    return { check: 'SQLite', verdict: 'bad', found: `${found}: ${path} is damaged; reset and sync anew` }
  } finally {
    connection.close()
  }
}

function appHash(path: string): Finding {
  const reader = openSqliteReader({ path, tables })
  try {
    return reader.read((state) => {
      const stored = state.appHash()
      const recomputed = state.recomputeRoot()
      const at = `height ${state.height()} of ${state.chainId() ?? 'no chain'}`
      return equalBytes(stored, recomputed)
        ? {
            check: 'app hash',
            verdict: 'ok',
            found: `${toHex(stored).toUpperCase()} at ${at}, recomputed from the rows`,
          }
        : {
            check: 'app hash',
            verdict: 'bad',
            found:
              `at ${at} the rows give ${toHex(recomputed).toUpperCase()}, but ` +
              `${toHex(stored).toUpperCase()} was committed: by hand or by the disk, rows were changed; reset and sync anew`,
          }
    })
  } finally {
    reader.close()
  }
}

/** The SQLite settings of a state, and its app hash worked out anew from every row; a note when there is no state. */
export function examineState(path: string): readonly Finding[] {
  if (!existsSync(path)) return [{ check: 'state', verdict: 'note', found: `${path} is not there yet` }]
  return [['SQLite', settings] as const, ['app hash', appHash] as const].map(([check, look]) => {
    try {
      return look(path)
    } catch (error) {
      return { check, verdict: 'bad', found: reasonOf(error) }
    }
  })
}
