/**
 * Loaded into the process of `svcd start` before it: where that imports src/app/app.ts it gets application.ts, which puts
 * a trait (trait.ts) around the real application.
 */
import { registerHooks } from 'node:module'

const REAL = new URL('../../src/app/app.ts', import.meta.url).href
const START = new URL('../../src/node/start.ts', import.meta.url).href
const AROUND = new URL('./application.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    return found.url === REAL && context.parentURL === START ? { ...found, url: AROUND } : found
  },
})
