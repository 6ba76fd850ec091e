import { writeSync } from 'node:fs'

/**
 * Writes a line to the standard output of a program that works without ever waiting. process.stdout keeps what a full
 * pipe does not take and writes it when the program waits next, so a test that is slow to read would miss lines.
 */
export function tell(line: string | number): void {
  writeSync(1, `${line}\n`)
}
