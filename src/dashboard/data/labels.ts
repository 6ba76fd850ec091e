/** Names that a reader gives to addresses. They stay in this browser, and nobody else sees them. */
import { parseAddress } from '../../values/address.ts'
import { createStore } from './store.ts'

/** The most addresses that have a label. */
export const LABELS_MAX = 100
/** The most characters of a label. */
export const LABEL_LENGTH_MAX = 30

const KEPT = 'svcd-labels'

type Labels = ReadonlyMap<string, string>

/** A label as it is kept: one line, cut to its length. */
const trimmed = (text: string): string =>
  [...text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trim()].slice(0, LABEL_LENGTH_MAX).join('').trim()

function readKept(): Labels {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '{}')
    const valid = Object.entries(all as object).flatMap(([address, text]) => {
      const label = typeof text === 'string' ? trimmed(text) : ''
      return label !== '' && parseAddress(address) === address ? [[address, label] as const] : []
    })
    return new Map(valid.slice(0, LABELS_MAX))
  } catch {
    // A browser that keeps nothing for this page, or something that another program wrote.
    return new Map()
  }
}

/** The labels by address. */
export const labels = createStore<Labels>(readKept())

// Another tab of this browser has changed them.
addEventListener('storage', ({ key }) => key === KEPT && labels.set(readKept()))

/** Gives an address a label, or takes it away with an empty one. Returns why it cannot be. */
export function setLabel(address: string, text: string): string | undefined {
  const next = new Map(readKept())
  const label = trimmed(text)
  if (label === '') next.delete(address)
  else if (next.has(address) || next.size < LABELS_MAX) next.set(address, label)
  else return `This browser keeps ${LABELS_MAX} labels already. Remove one in My account first.`
  labels.set(next)
  try {
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(next)))
  } catch {
    // They last as long as this page then.
  }
  return undefined
}
