import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCometBft } from '../../src/comet/find.ts'
import { homeFiles } from '../../src/comet/home.ts'
import { startCometBft } from '../../src/comet/process.ts'
import { openNodeRpc, waitForNode } from '../../src/comet/rpc.ts'
import { until } from '../../bench/until.ts'
import { kvstoreHome, NODE_MS_MAX } from './support.ts'

let program: string
let log: string
let node: Awaited<ReturnType<typeof kvstoreHome>>
beforeAll(async () => {
  program = (await findCometBft()).path
  node = await kvstoreHome()
  log = homeFiles(node.home).log
})
afterAll(() => node.remove())

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const script = (text: string) => {
  const path = join(node.home, 'program.sh')
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

/** What the node of this home has logged. */
const logged = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')

/** A process of its own that runs `run` and, told to, does `then`; with the pid of `run`, once that printed `mark`. */
const parentThat = async (run: string, mark: string, then: string) => {
  const url = new URL('../../src/comet/process.ts', import.meta.url).href
  const code = `import { startCometBft } from '${url}'
    const node = await startCometBft({ program: '${run}', home: '${node.home}' })
    console.log(node.pid)
    process.stdin.once('data', () => { ${then} })`
  rmSync(log, { force: true })
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'ignore'] })
  const pid = await new Promise<number>((done) => {
    parent.stdout.once('data', (chunk: Buffer) => done(Number.parseInt(chunk.toString(), 10)))
  })
  await until(() => logged().includes(mark))
  return { parent, pid }
}

describe('process', () => {
  test('a node runs, logs into its home, stops in order and goes on from its height', async () => {
    const rpc = openNodeRpc(node.url)
    const first = await startCometBft({ program, home: node.home })
    await waitForNode(rpc, NODE_MS_MAX)
    await until(async () => (await rpc.committedHeight()) >= 3)
    const height = await rpc.committedHeight()
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    const { lastLines } = await first.exited
    expect(lastLines).toHaveLength(20)
    expect(logged()).toContain(`${lastLines.join('\n')}\n`)
    const second = await startCometBft({ program, home: node.home })
    await waitForNode(rpc, NODE_MS_MAX)
    expect(await rpc.committedHeight()).toBeGreaterThanOrEqual(height)
    await second.stop()
    rpc.close()
  })

  test('a second node on the same home is refused with the port in the message', async () => {
    const first = await startCometBft({ program, home: node.home })
    await waitForNode(openNodeRpc(node.url), NODE_MS_MAX)
    const error = { code: 'COMET', message: expect.stringContaining(String(node.rpcPort)) }
    await expect(startCometBft({ program, home: node.home })).rejects.toMatchObject(error)
    await first.stop()
  })

  const info = 'I[2026-11-23|01:32:49.680] indexed block events    module=txindex height=15'
  const error = 'E[2026-11-23|01:32:49.700] cannot write    module=state err="disk I/O error"'
  const peer = 'E[2026-11-23|01:32:49.701] Stopping peer for error    module=p2p err=EOF'
  const stack = 'goroutine 1 [running]:\nmain.main()\n\t/src/main.go:52 +0x21f'
  test.each([
    ['its last line', 'echo bad news >&2; exit 3', 'bad news'],
    ['its status, when that line is no error', `echo '${info}'; exit 3`, 'exit status 3'],
    ['a stop', `echo '${info}'; exit 0`, 'it was asked to stop'],
    ['its last error, but not of a peer', `echo '${error}'; echo '${peer}'; echo '${info}'; exit 1`, error],
    ['a signal', `echo '${error}'; echo '${info}'; kill -9 $$`, 'ended by SIGKILL'],
    ['a panic', `echo '${error}'; echo 'panic: bad number'; seq 30; echo '${stack}'; exit 2`, 'panic: bad number'],
    ["its command's error", `echo '${error}'; echo 'ERROR: no room' >&2; exit 1`, 'ERROR: no room'],
  ])('a node that ends by itself is reported with the reason: %s', async (_, text, reason) => {
    const { exited } = await startCometBft({ program: script(text), home: node.home })
    expect((await exited).reason).toBe(reason)
  })

  test('a program that ignores SIGTERM is killed after the grace, and stop may be called twice', async () => {
    const program = script('trap "" TERM; echo up; while :; do sleep 0.05; done')
    rmSync(log, { force: true })
    const stubborn = await startCometBft({ program, home: node.home })
    await until(() => logged().includes('up'))
    await Promise.all([stubborn.stop(200), stubborn.stop(200)])
    expect(await stubborn.exited).toMatchObject({ reason: 'ended by SIGKILL' })
  })

  test('a program that is not there is a CometError', async () => {
    await expect(startCometBft({ program: join(node.home, 'no-program'), home: node.home })).rejects.toMatchObject({
      code: 'COMET',
    })
    await expect(startCometBft({ program, home: join(node.home, 'nothing') })).rejects.toMatchObject({ code: 'COMET' })
  })

  // skip: it reads /proc, which Linux alone has
  const onLinux = process.platform === 'linux' ? test : test.skip
  onLinux("the node has a process group of its own, so a terminal's Ctrl-C does not reach it", async () => {
    const options = { program: script('while :; do sleep 0.05; done'), home: node.home }
    const { exited, stop, pid } = await startCometBft(options)
    const group = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2]
    expect(Number(group)).toBe(pid)
    await stop(1)
    await exited
  })

  test('the node is gone when our process is killed', async () => {
    const { parent, pid } = await parentThat(program, 'committed state', 'process.kill(process.pid, "SIGKILL")')
    expect(isAlive(pid)).toBe(true)
    parent.stdin.write('now')
    await until(() => !isAlive(pid))
  })

  const ends = ['process.exit(0)', 'throw new Error("x")']
  test.each(ends)('a program that prints nothing more is gone too when our process does %s', async (then) => {
    const { parent, pid } = await parentThat(script('echo up; exec sleep 60'), 'up', then)
    expect(isAlive(pid)).toBe(true)
    parent.stdin.write('now')
    await until(() => !isAlive(pid))
  })
})
