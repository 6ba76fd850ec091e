import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { portRange } from '../e2e/support/processes.ts'

test('no two workers that tools/test.ts starts at once take the same port', () => {
  const counts = [...readFileSync('tools/test.ts', 'utf8').matchAll(/--maxWorkers=(\d+)/g)].map(([, count]) =>
    Number(count),
  )
  expect(counts.length).toBeGreaterThan(0)
  const ports = Array.from({ length: Math.max(...counts) }, (_, at) => portRange(at + 1)).flatMap(({ first, count }) =>
    Array.from({ length: count }, (_, at) => first + at),
  )
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.min(...ports)).toBeGreaterThan(1023)
  expect(Math.max(...ports)).toBeLessThan(32_768)
  expect(() => portRange(9)).toThrow('worker 9 of jest has no ports: run at most 8')
})
