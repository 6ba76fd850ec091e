/** What modules of the page take from a browser when they are loaded: imported before them. */
const place = new EventTarget()
const { setInterval: start } = globalThis
Object.assign(globalThis, {
  document: Object.assign(new EventTarget(), { hidden: false }),
  location: { href: 'http://127.0.0.1:9/', hash: '' },
  addEventListener: place.addEventListener.bind(place),
  removeEventListener: place.removeEventListener.bind(place),
  dispatchEvent: place.dispatchEvent.bind(place),
  // The clock of the page runs as long as the page, and must not keep a test from ending.
  setInterval: (tick: () => void, ms: number) => start(tick, ms).unref(),
})
