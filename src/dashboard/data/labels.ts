/** Names that a reader gives to addresses. They stay in this browser, and nobody else sees them. */
import { parseAddress } from '../../values/address.ts'
import { keep, readKept } from './kept.ts'
import { createStore } from './store.ts'

export const LABELS_MAX = 100
export const LABEL_LENGTH_MAX = 30

const KEPT = 'svcd-labels'

type Labels = ReadonlyMap<string, string>

/** A label as it is kept: one line, cut to its length. */
const trimmed = (text: string): string =>
  [...text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').trim()].slice(0, LABEL_LENGTH_MAX).join('').trim()

function readLabels(): Labels {
  const all = readKept('localStorage', KEPT) ?? {}
  const valid = Object.entries(all).flatMap(([address, text]) => {
    const label = typeof text === 'string' ? trimmed(text) : ''
    return label !== '' && parseAddress(address) === address ? [[address, label] as const] : []
  })
  return new Map(valid.slice(0, LABELS_MAX))
}

export const labels = createStore<Labels>(readLabels())

// Another tab of this browser has changed them.
addEventListener('storage', ({ key }) => key === KEPT && labels.set(readLabels()))

/** Gives an address a label, or takes it away with an empty one. Returns why it cannot be. */
export function setLabel(address: string, text: string): string | undefined {
  const next = new Map(readLabels())
  const label = trimmed(text)
  if (label === '') next.delete(address)
  else if (next.has(address) || next.size < LABELS_MAX) next.set(address, label)
  else return `This browser keeps ${LABELS_MAX} labels already. Remove one in My account first.`
  labels.set(next)
  keep('localStorage', KEPT, Object.fromEntries(next))
  return undefined
}
