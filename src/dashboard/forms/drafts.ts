/**
 * What was typed into forms and is not sent yet, in the storage of this tab: a reload keeps it. Forms of operations have
 * their drafts here, which hold no secret; a phrase, a password or a key is typed in none of them.
 */
import { keep, readKept } from '../data/kept.ts'
import type { Typing } from './check.ts'

interface Draft {
  /** What the form began with: a link to it may say something. */
  readonly began: Typing
  readonly changed: Typing
}

type Drafts = readonly (readonly [form: string, draft: Draft])[]

const KEPT = 'svcd-drafts'

/** The drafts that are kept, the last ones, and the characters of one of them. */
const DRAFTS_MAX = 8
const LENGTH_MAX = 64 * 1024

function readAll(): Drafts {
  const all = readKept('sessionStorage', KEPT)
  return Array.isArray(all) ? (all as Drafts) : []
}

function put(form: string, draft: Draft | undefined): void {
  const others = readAll().filter(([name]) => name !== form)
  const isKept = draft !== undefined && JSON.stringify(draft).length <= LENGTH_MAX
  keep('sessionStorage', KEPT, isKept ? [...others, [form, draft]].slice(-DRAFTS_MAX) : others)
}

/** Marks a step of the browser's history in which something was typed: a reload and a step back lead to it, no link does. */
const TYPED = 'typed'

/**
 * What was typed into a form that begins with `initial`; nothing where a link leads to it that says something else. Where
 * it was typed, also what was typed over the link.
 */
export function readDraft(form: string, initial: Typing): Typing {
  const { began = {}, changed = {} } = readAll().find(([name]) => name === form)?.[1] ?? {}
  const typed = { ...began, ...changed }
  const isBack = history.state === TYPED
  const isOther = Object.entries(initial).some(
    ([name, value]) => value !== '' && value !== typed[name] && !(isBack && value === began[name]),
  )
  return isOther ? {} : changed
}

export function keepDraft(form: string, began: Typing, changed: Typing): void {
  put(form, { began, changed: { ...readDraft(form, began), ...changed } })
  if (history.state !== TYPED) history.replaceState(TYPED, '')
}

const keptOf = (form: string): string | undefined => JSON.stringify(readAll().find(([name]) => name === form))

/** Returns what forgets what is typed by now, once it is sent. What is typed until then is something else, and stays. */
export function draftDropper(form: string): () => void {
  const sent = keptOf(form)
  return () => {
    if (keptOf(form) === sent) put(form, undefined)
  }
}
