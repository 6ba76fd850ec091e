import { setTimeout as sleep } from 'node:timers/promises'

/** Asks `probe` until it gives something, and returns that. Throws `why` after `limitMs`, if there is a limit. */
export async function until<T>(
  probe: () => T | Promise<T>,
  limitMs = Number.POSITIVE_INFINITY,
  why: string | (() => string) = 'it takes too long',
  pauseMs = 20,
): Promise<NonNullable<Exclude<T, false>>> {
  for (const end = Date.now() + limitMs; ; await sleep(pauseMs)) {
    const found = await probe()
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<Exclude<T, false>>
    if (Date.now() > end) throw new Error(typeof why === 'string' ? why : why())
  }
}
