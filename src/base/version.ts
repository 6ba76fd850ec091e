import { readFileSync } from 'node:fs'

/** The version of this package, as package.json says it. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }
