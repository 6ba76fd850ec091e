import { createStore, useStore } from './store.ts'

const now = createStore(Date.now())
setInterval(() => now.set(Date.now()), 1_000)

/** The browser's clock in ms, anew each second. */
export const useNow = (): number => useStore(now)
