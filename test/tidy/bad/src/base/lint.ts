enum Colour { red } // red: noEnum

async function later(): Promise<number> {
  return Number(Colour.red)
}

/** A promise that nobody waits for. */
export function floats(): void {
  later() // red: noFloatingPromises
}

/** A switch that forgets a case. */
export function forgets(state: 'active' | 'withdrawn'): number {
  switch (state) { // red: useExhaustiveSwitchCases
    case 'active': return 1
  }
  return 0
}

/** A default export, which each importer names as it likes. */
export default floats // red: noDefaultExport
