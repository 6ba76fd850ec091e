import { join } from 'node:path'
import { readAdvisories } from '../supplyChain/advisories.ts'
import { lockedPackages } from '../supplyChain/locked.ts'
import { INSTALL_SCRIPTS } from '../supplyChain/scripts.ts'
import { table } from './markdown.ts'

const root = join(import.meta.dirname, '../..')
const packages = lockedPackages(root).filter(({ ecosystem }) => ecosystem === 'npm')

/** Every library that users get, with its version and licence. */
export function librariesTable(): string {
  const rows = packages
    .filter(({ isShipped }) => isShipped)
    .map(({ name, version, license = '' }) => [name, version, license])
    .sort(([a = ''], [b = '']) => a.localeCompare(b, 'en'))
  return table(['Library', 'Version', 'Licence'], rows)
}

/** The licences of the tools, and how many packages each has. */
export function toolsTable(): string {
  const counts = new Map<string, number>()
  for (const { license = '', isShipped } of packages)
    if (!isShipped) counts.set(license, (counts.get(license) ?? 0) + 1)
  const rows = [...counts].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([name, count]) => [name, String(count)])
  return table(['Licence', 'Packages'], rows)
}

/** The packages with an install script, and what becomes of it. */
export function scriptsTable(): string {
  const rows = Object.entries(INSTALL_SCRIPTS).map(([name, { runs, why }]) => [name, `\`${runs}\``, why])
  return table(['Package', 'Would run', 'Here'], rows)
}

/** The known weaknesses of versions that are used. */
export function advisoriesTable(): string {
  const rows = readAdvisories(root).flatMap(({ id, package: name, vulnerable, what, why }) =>
    why === undefined ? [] : [[id, name, vulnerable, what, why]],
  )
  return table(['Advisory', 'Package', 'Versions', 'Weakness', 'Why it does not concern svcd'], rows)
}
