/// <reference path="../../src/dashboard/vite.d.ts" />
import { drawn } from './fakeDom.ts'
import { expect, jest, test } from '@jest/globals'
import { type ComponentChild, h } from 'preact'
import { until } from '../../bench/until.ts'

test('a view that a defect ends leaves the rest of the page, and the next view is shown', async () => {
  const fault = new Error('a defect')
  const reported: unknown[] = []
  Object.assign(globalThis, { reportError: (error: unknown) => reported.push(error) })
  jest.unstable_mockModule('../../src/dashboard/pages/Overview.tsx', () => ({
    Overview: () => {
      throw fault
    },
  }))
  // The other views stay away: they would be loaded behind the test.
  const lazy = () => () => null
  jest.unstable_mockModule('../../src/dashboard/parts/lazyView.tsx', () => ({ lazyView: lazy, lazyPart: lazy }))
  const { App } = await import('../../src/dashboard/app.tsx')
  const { text, end } = drawn(h(App, {}))
  const shows = (what: string): Promise<true> =>
    until(
      () => text().includes(what),
      20_000,
      () => `the page shows no ${what}: ${text()}`,
    )
  await shows('This view cannot be shown')
  expect(text()).toContain('Skip to the content')
  expect(reported).toEqual([fault])
  location.hash = '#/nowhere'
  dispatchEvent(new Event('hashchange'))
  await shows('This address leads nowhere')
  end()
})

test('a dialog that a defect ends can be closed, leaves the page, and the next one is shown', async () => {
  const fault = new Error('a defect')
  const reported: unknown[] = []
  Object.assign(globalThis, { reportError: (error: unknown) => reported.push(error) })
  const { Dialog } = await import('../../src/dashboard/parts/Dialog.tsx')
  const Broken = () => {
    throw fault
  }
  const page = (...dialogs: readonly ComponentChild[]) => h('div', {}, 'The page', ...dialogs)
  const { text, draw, end } = drawn(page(h(Dialog, { title: 'Sign', onClose: () => {}, children: h(Broken, {}) })))
  await until(
    () => text().includes('cannot be shown'),
    20_000,
    () => text(),
  )
  expect(text()).toMatch(/^The pageSignClose/)
  expect(reported).toEqual([fault])
  draw(page())
  draw(page(h(Dialog, { title: 'Sign', onClose: () => {}, children: 'The next one' })))
  expect(text()).toBe('The pageSignCloseThe next one')
  end()
})
