import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from '@jest/globals'
import { closeAll, fileBytes, type FileServer, md5Of, serve } from '../eni/support.ts'
import { type Devnet, makePlace, type Place, startDevnet, svcd } from './support/devnet.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(async () => {
  await net?.stop()
  await closeAll()
})
const file = fileBytes(7, 3_000_000)
const flood = Buffer.alloc(1024 * 1024)
const held = new Set<ServerResponse>()
const asked: string[] = []
/** Paths that are answered with a half of the file, or not at all, until they are taken out. */
const stalling = new Set(['/stall', '/slow'])
let server: FileServer
let inward: FileServer
let place: Place
let net: Devnet
let env: NodeJS.ProcessEnv
let metricsUrl = ''
let from = ''

async function answer(path: string, response: ServerResponse): Promise<void> {
  asked.push(path)
  if (stalling.has(path)) {
    if (path === '/slow') response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, 1_000_000))
    held.add(response)
  } else if (path === '/404') response.writeHead(404).end()
  else if (path === '/wrong') response.end('another file')
  else if (path === '/inward') response.writeHead(302, { location: `${inward.url}/` }).end()
  else if (path === '/metadata') response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
  else if (path === '/over') {
    for (let sent = 0; sent < 65 && response.writable; sent++)
      await new Promise<void>((done) => response.write(flood, () => done()))
    response.end()
  } else response.end(file)
}

beforeAll(async () => {
  server = await serve((request, response) => void answer(request.url ?? '', response))
  inward = await serve((_request, response) => response.end(file), '127.0.0.2')
  place = await makePlace(join(folder, 'home'))
  const [metrics = 0] = await freePorts(1)
  metricsUrl = `http://127.0.0.1:${metrics}/metrics`
  env = { ...process.env, SVCD_ENI_ALLOW: '127.0.0.1', SVCD_APP_METRICS: `127.0.0.1:${metrics}` }
  net = await startDevnet(place, ['--os', 'ubuntu'], env)
  ;[from = ''] = await net.call<string[]>('svc_accounts')
})

/** Proposes a library from these URLs and approves it; gives its id. */
async function approve(name: string, urls: readonly string[], deployBlockHeight: number): Promise<string> {
  const {
    deliver_tx: { data = '' },
  } = await net.commit('svc_proposeDeployLibEni', {
    from,
    name,
    version: 'v1.0.0',
    deployBlockHeight,
    fileUrl: JSON.stringify({ ubuntu: urls }),
    md5: JSON.stringify({ ubuntu: md5Of(file) }),
  })
  await net.commit('svc_vote', { from, proposalId: data, answer: 'Y' })
  return data
}

async function statusOf(id: string): Promise<string> {
  const { data } = await net.call<{ data: { Detail: { status: string } } }>('svc_queryProposal', [id])
  return data.Detail.status
}

async function until(id: string, status: string): Promise<void> {
  while ((await statusOf(id)) !== status) await sleep(50)
}

test('each server has the end that the protocol gives it, nothing inward is called, and blocks go on', async () => {
  // Far enough that all files have arrived before it on a busy machine.
  const point = (await net.height()) + 150
  const at = (path: string): string => `${server.url}/${path}`
  const cases = {
    good: [at('good')],
    second: [at('404'), at('good')],
    wrong: [at('wrong')],
    over: [at('over')],
    inward: [at('inward')],
    direct: [`${inward.url}/`],
    metadata: [at('metadata')],
  }
  const names = Object.keys(cases) as (keyof typeof cases)[]
  const made = await Promise.all(names.map(async (name) => [name, await approve(name, cases[name], point)]))
  const ids = Object.fromEntries(made) as Record<keyof typeof cases, string>
  const found = ['good', 'second'] as const
  const lost = ['wrong', 'over', 'inward', 'direct', 'metadata'] as const
  for (const name of found) await until(ids[name], 'ready')
  for (const name of lost) await until(ids[name], 'failed')
  expect(await (await fetch(metricsUrl)).text()).toMatch(
    /^svc_eni_staged 2$[\s\S]*^svc_eni_deployed 0$[\s\S]*^svc_eni_failed 5$/m,
  )

  const stalled = await approve('stall', [at('stall')], point)
  while (!asked.includes('/stall')) await sleep(20)
  // Had consensus waited for the server, there would have been no block at all.
  await net.waitForHeight((await net.height()) + 10)
  expect([...held].filter(({ destroyed }) => !destroyed)).toHaveLength(1)

  await net.waitForHeight(point)
  for (const name of found) await until(ids[name], 'deployed')
  for (const id of [...lost.map((name) => ids[name]), stalled]) await until(id, 'collapsed')
  expect(inward.connections()).toBe(0)

  const listed = await svcd(['eni', 'list', '--home', place.home, '--json'])
  const rows = JSON.parse(listed.stdout) as { name: string; status: string }[]
  expect(Object.fromEntries(rows.map(({ name, status }) => [name, status]))).toEqual({
    ...Object.fromEntries(found.map((name) => [name, 'deployed'])),
    ...Object.fromEntries([...lost, 'stall'].map((name) => [name, 'collapsed'])),
  })
  const where = join(place.home, 'eni/lib/second-v1.0.0.so')
  expect(rows.find(({ name }) => name === 'second')).toEqual({
    name: 'second',
    version: 'v1.0.0',
    status: 'deployed',
    bytes: file.length,
    md5: md5Of(file),
    sha256: createHash('sha256').update(file).digest('hex'),
    where,
  })
  expect([readFileSync(where).equals(file), statSync(where).mode & 0o777]).toEqual([true, 0o600])
  expect(readlinkSync(join(place.home, 'eni/lib/second-current.so'))).toBe('second-v1.0.0.so')
  const log = readFileSync(join(place.home, 'logs/app.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(log).toContainEqual(
    expect.objectContaining({ event: 'svc.governance.lib_status', name: 'good', status: 'deployed' }),
  )
  expect(log).toContainEqual(
    expect.objectContaining({ name: 'metadata', why: expect.stringContaining('169.254.169.254 (linkLocal)') }),
  )
  expect(log).toContainEqual(
    expect.objectContaining({ name: 'over', why: `the file is larger than ${64 * 1024 * 1024} bytes` }),
  )
})

test('kill -9 during a fetch: after the restart the file arrives and is deployed', async () => {
  stalling.delete('/stall')
  for (const response of held) response.destroy()
  const id = await approve('slow', [`${server.url}/slow`], (await net.height()) + 60)
  while (!asked.includes('/slow')) await sleep(20)
  process.kill(net.pids.app, 'SIGKILL')
  expect((await net.ended).status).toBe(1)
  stalling.delete('/slow')
  net = await startDevnet(place, ['--os', 'ubuntu'], env)
  await until(id, 'deployed')
  expect(readFileSync(join(place.home, 'eni/lib/slow-v1.0.0.so')).equals(file)).toBe(true)
  expect((await net.stop()).status).toBe(0)
})
