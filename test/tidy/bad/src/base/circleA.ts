import { b } from './circleB.ts' // red: noImportCycles

/** One half of a circle. */
export const a = (): number => b()
