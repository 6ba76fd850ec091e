import { a } from './circleA.ts' // red: noImportCycles

/** The other half. */
export const b = (): number => a()
