import { createStore, useStore } from './store.ts'

/** How far the browser's clock may be from the gateway's, in ms, until the gateway's counts: an answer takes its time. */
const TRUSTED_MS = 60_000

/** What the browser's clock lacks to the gateway's, in ms; 0 where it is trusted. */
let behindMs = 0

/** Learns the gateway's time from the header `date` of an answer. */
export function learnTime(date: string | null): void {
  const ms = Date.parse(date ?? '') - Date.now()
  behindMs = Math.abs(ms) > TRUSTED_MS ? ms : 0
}

const now = createStore(Date.now())
setInterval(() => now.set(Date.now()), 1_000)

/** The browser's clock in ms, anew each second: for how long something of this page has lasted. */
export const useBrowserNow = (): number => useStore(now)

/** The time in ms, anew each second. Where the browser's clock is wrong it is the gateway's, as blocks have it too. */
export const useNow = (): number => useStore(now) + behindMs
