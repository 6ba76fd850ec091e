import { Shape } from './shape.ts' // tsc: TS1484

const unused = 1 // tsc: TS6133

namespace Names { export const a = 1 } // tsc: TS1294

/** An index that may hold nothing. */
export const first = (list: readonly string[]): string => list[0] // tsc: TS2322

/** Undefined is not the same as absent. */
export const shape: Shape = { label: undefined } // tsc: TS2375

/** A path without a result. */
export function some(given: boolean) { // tsc: TS7030
  if (given) return Names.a
}

/** A case that runs into the next. */
export function falls(given: number): number {
  let sum = 0
  switch (given) {
    case 1: // tsc: TS7029
      sum += 1
    case 2:
      sum += 2
  }
  return sum
}

/** A misspelt member would be undefined. */
export const member = (of: Record<string, number>): number | undefined => of.anything // tsc: TS4111

/** A parameter of no type. */
export const untyped = (given): string => String(given) // tsc: TS7006

/** A parameter that is not read. */
export const unread = (given: string): number => 1 // tsc: TS6133

class Base { get(): number { return 1 } }

/** A method that takes the place of another without saying so. */
export class Derived extends Base { get(): number { return 2 } } // tsc: TS4114
