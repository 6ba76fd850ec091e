import type { Locked } from './locked.ts'

/** Licences under which what we ship may be: their texts go along, and they ask for no more. */
const SHIPPED = new Set(['Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'])
/** And those of tools, which nobody gets from us. */
const TOOLS = new Set([
  ...SHIPPED,
  '0BSD',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'LGPL-3.0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
])

/** True when an SPDX expression can be met with these licences. */
function isMet(license: string, allowed: ReadonlySet<string>): boolean {
  const bare = license.replace(/^\((.*)\)$/, '$1')
  return bare.split(' OR ').some((one) => one.split(' AND ').every((name) => allowed.has(name)))
}

/** The npm packages whose licence nobody has agreed to. */
export const unlicensed = (locked: readonly Locked[]): readonly string[] =>
  locked
    .filter(({ ecosystem }) => ecosystem === 'npm')
    .filter(({ license = '', isShipped }) => !isMet(license, isShipped ? SHIPPED : TOOLS))
    .map(({ name, version, license, file }) => `${file}: ${name} ${version}: ${license ?? 'no licence'}`)
