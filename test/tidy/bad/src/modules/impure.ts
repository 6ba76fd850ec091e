import { later } from './later.ts'

/** Chance. */
export const dice = Math.random() // red: plugin, inexactMath

const { random } = Math // red: inexactMath

/** Chance by another name. */
export const other = random()

/** A function whose last digit depends on the engine. */
export const power = Math.pow(2, 3) // red: inexactMath

/** Exact. */
export const least = Math.min(1, 2)

/** The order of a locale. */
export const order = 'Z'.localeCompare('a') // red: plugin

/** Not synchronous. */
export async function wait(): Promise<number> { // red: async, noRestrictedGlobals
  return await later // red: plugin
}

/** Not synchronous either. */
export const waits = { async now() { return 1 } } // red: async

/** Fractions that no machine holds exactly. */
export const half = 0.5 // red: plugin

/** The same in another spelling. */
export const tenth = 1e-1 // red: plugin

/** Integer-like names first. */
export function names(of: Record<string, number>): unknown[] {
  return [
    Object.keys(of), // red: plugin
    Object.values(of), // red: plugin
    Object.entries(of), // red: plugin
  ]
}

/** An order that is not that of insertion. */
export function walkNames(of: Record<string, number>): string {
  let all = ''
  for (const name in of) { // red: forIn
    all += name
  }
  return all
}

/** State that no app hash covers. */
export let counter = 0 // red: moduleLet

let hidden = 0 // red: moduleLet

/** Changes both. */
export function count(): void {
  counter += 1
  hidden += counter
}

/** A log that no catalogue knows. */
export const refusal = { code: 1, log: 'no' } // red: logOutsideCatalogue
