import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from '@jest/globals'
import { startWorkerThread, type WorkerThread } from '../../src/base/workerThread.ts'

/** Answers with what it was sent, and ends when it is sent `throw` or `exit`. */
const WORKER = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', (text) => {
  if (text === 'throw') throw new Error('thrown inside')
  if (text === 'exit') process.exit(0)
  parentPort.postMessage(text)
})`

let thread: WorkerThread<string> | undefined
afterEach(() => thread?.close())

/** A thread and what it reported, line by line. `until` resolves once there are so many lines. */
function startThread(restartMs: number, workerData?: object) {
  const lines: string[] = []
  const changes = new EventTarget()
  const add = (line: string): void => {
    lines.push(line)
    changes.dispatchEvent(new Event('line'))
  }
  const own = startWorkerThread<string, string>({
    file: new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`),
    workerData,
    restartMs,
    onMessage: add,
    onFailed: ({ message }) => add(`failed: ${message}`),
    onRestarted: () => add('restarted'),
  })
  thread = own
  const until = async (count: number): Promise<readonly string[]> => {
    while (lines.length < count) await once(changes, 'line')
    return lines
  }
  return { ...own, until }
}

test.each([
  ['an error that nobody catches', 'throw', 'thrown inside'],
  ['its exit', 'exit', 'the thread has ended'],
])('a thread is replaced once after %s, and what is posted meanwhile is lost', async (_name, word, why) => {
  const { post, until } = startThread(20)
  post(word)
  expect(await until(1)).toEqual([`failed: ${why}`])
  post('lost')
  await until(2)
  post('after')
  expect(await until(3)).toEqual([`failed: ${why}`, 'restarted', 'after'])
})

test('a thread that its owner fails is replaced, and its late answers are dropped', async () => {
  const { post, fail, until } = startThread(1)
  post('before')
  await until(1)
  post('late')
  fail(new Error('too slow'))
  await until(3)
  post('after')
  expect(await until(4)).toEqual(['before', 'failed: too slow', 'restarted', 'after'])
})

test('after close there is neither a callback nor another thread, also while one was awaited', async () => {
  const { post, close, until } = startThread(1)
  post('throw')
  await until(1)
  await close()
  post('late')
  await new Promise((done) => setTimeout(done, 100))
  expect(await until(1)).toEqual(['failed: thrown inside'])
})

/** Start data with which `new Worker` throws while `isFull()`, as it does when the system has no thread to give. */
const unstartable = (isFull: () => boolean): object => ({
  get refused() {
    if (isFull()) throw new Error('no thread is left')
    return false
  },
})

test('a thread that cannot start, neither at first nor after a failure, has failed and is tried again', async () => {
  let isFull = true
  const { post, until } = startThread(
    1,
    unstartable(() => isFull),
  )
  post('lost')
  expect(await until(2)).toEqual(['failed: no thread is left', 'failed: no thread is left'])
  isFull = false
  expect((await until(3)).at(-1)).toBe('restarted')
  isFull = true
  post('throw')
  expect((await until(6)).slice(3)).toEqual([
    'failed: thrown inside',
    'failed: no thread is left',
    'failed: no thread is left',
  ])
})

test('a thread that could not start and is closed at once reports nothing', async () => {
  const { close, until } = startThread(
    1,
    unstartable(() => true),
  )
  await close()
  await new Promise((done) => setTimeout(done, 100))
  expect(await until(0)).toEqual([])
})

test('a process that closes a thread which is loading SQLite ends in order, at whatever moment it does', () => {
  const thread = `
    import { parentPort } from 'node:worker_threads'
    import { createRequire } from 'node:module'
    const Database = createRequire(${JSON.stringify(import.meta.url)})('better-sqlite3')
    new Database(':memory:')
    parentPort.on('message', () => {}).postMessage('loaded')`
  const program = `
    import { startWorkerThread } from ${JSON.stringify(new URL('../../src/base/workerThread.ts', import.meta.url).href)}
    const file = new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(thread)}`)})
    const nothing = () => {}
    for (let ms = 0; ms < 60; ms += 0.5) {
      const { close } = startWorkerThread({
        file, workerData: undefined, tellsLoaded: true, restartMs: 1, onMessage: nothing, onFailed: nothing,
      })
      await new Promise((resolve) => setTimeout(resolve, ms))
      await close()
    }`
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, NODE_OPTIONS: '' },
    encoding: 'utf8',
    timeout: 3_000_000,
  })
  expect([status, signal, stderr]).toEqual([0, null, ''])
})
