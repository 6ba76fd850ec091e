/** Creates a function that runs what has the same key one after the other, in the order of the calls. */
export function oneAtATime() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, run: () => Promise<T>): Promise<T> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(run, run)
    const end = (): unknown => last.get(key) === turn && last.delete(key)
    last.set(key, turn)
    turn.then(end, end)
    return turn
  }
}
