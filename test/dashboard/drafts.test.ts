import { beforeEach, expect, test } from '@jest/globals'
import { draftDropper, keepDraft, readDraft } from '../../src/dashboard/forms/drafts.ts'

const kept = new Map<string, string>()

/** The step of the browser's history in which the reader is. */
const step = {
  state: null as unknown,
  replaceState: (state: unknown): void => void Object.assign(step, { state }),
}

Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
  history: step,
})

const press = (): void => step.replaceState(null)

beforeEach(() => {
  kept.clear()
  press()
})

test('a reload and a step back give what was typed over a link, and the same link anew what it says', () => {
  keepDraft('send', { to: 'A' }, { to: 'C' })
  keepDraft('send', { to: 'A' }, { value: '5' })
  const { state } = step
  expect(readDraft('send', { to: 'A' })).toEqual({ to: 'C', value: '5' })
  press()
  expect(readDraft('send', { to: 'A' })).toEqual({})
  step.replaceState(state)
  expect(readDraft('send', { to: 'A' })).toEqual({ to: 'C', value: '5' })
})

test('a link gives what was typed beside what it says, and one that says something else nothing', () => {
  keepDraft('send', { to: 'A' }, { value: '5' })
  press()
  expect(readDraft('send', { to: 'A' })).toEqual({ value: '5' })
  expect(readDraft('send', { to: '' })).toEqual({ value: '5' })
  expect(readDraft('send', { to: 'B' })).toEqual({})
})

test('a link to what was typed over another one gives the rest too', () => {
  keepDraft('send', { to: 'A' }, { to: 'C', value: '5' })
  press()
  expect(readDraft('send', { to: 'C' })).toEqual({ to: 'C', value: '5' })
})

test('what is sent is forgotten, and what is typed into the same form after it stays', () => {
  keepDraft('send', {}, { value: '5' })
  const drop = draftDropper('send')
  drop()
  expect(readDraft('send', {})).toEqual({})
  keepDraft('send', {}, { value: '6' })
  drop()
  expect(readDraft('send', {})).toEqual({ value: '6' })
})
