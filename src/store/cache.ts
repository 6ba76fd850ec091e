/** Values by key, of which the least used are forgotten. */
export interface Cache<K, V> {
  get(key: K): V | undefined
  has(key: K): boolean
  set(key: K, value: V): void
  clear(): void
}

/**
 * A cache that holds at least the `size` values last used, and at most twice as many: when the young ones are `size`,
 * they become the old ones and what was old is forgotten. Constant time for each use.
 */
export function makeCache<K, V>(size: number): Cache<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  const set = (key: K, value: V): void => {
    if (young.size >= size && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined || old.size === 0 || young.has(key) || !old.has(key)) return value
      const kept = old.get(key) as V
      set(key, kept)
      return kept
    },
    has: (key) => young.has(key) || old.has(key),
    set,
    clear: () => {
      young = new Map()
      old = new Map()
    },
  }
}
