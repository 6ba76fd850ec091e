import { parseProposalId, type ProposalId } from '../../src/values/pubKey.ts'
import { existsSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Libraries, serveLibraries } from '../../src/node/libraries.ts'
import { libPath } from '../../src/eni/libraryFolder.ts'
import { libraryStatus } from '../../src/modules/governance/tables.ts'
import type { Scan } from '../../src/store/state.ts'
import type { Table } from '../../src/store/table.ts'
import { closeAll, fileBytes, type FileServer, md5Of, namesIn, QUICK, serve, tempHome } from '../eni/support.ts'
import { deploy, govChain, proposed, shown, voted } from '../modules/governance/support.ts'
import { account, type TestChain } from '../support/testChain.ts'

const file = fileBytes(1)
let server: FileServer
beforeAll(async () => {
  server = await serve((request, response) => {
    if (request.url === '/absent') response.writeHead(404).end()
    else response.end(file)
  })
})
afterAll(closeAll)

/** A chain of one validator whose node takes libraries, as svcd start does. */
interface Node {
  readonly chain: TestChain
  readonly home: string
  readonly libraries: () => Libraries
  readonly log: object[]
  readonly restart: () => Promise<void>
}

function startNode(os = 'ubuntu', isAway = (): boolean => false): Node {
  const log: object[] = []
  const note = (fields: object): void => void log.push(fields)
  const logger = { info: note, error: note }
  let libraries: Libraries | undefined
  const chain: TestChain = govChain(
    [100],
    {},
    {
      app: {
        onCommitted: (height, changes) => {
          if (!isAway()) libraries?.onCommitted(height, changes)
        },
      },
    },
  )
  const home = tempHome()
  const serveAgain = (): void => {
    libraries = serveLibraries({ store: chain.store, home, os, allowAddresses: ['127.0.0.1'], logger, limits: QUICK })
  }
  serveAgain()
  const restart = async (): Promise<void> => {
    await libraries?.close()
    serveAgain()
  }
  return { chain, home, log, restart, libraries: () => libraries as Libraries }
}

const message = (name: string, path: string, height: number): Record<string, unknown> =>
  deploy({
    name,
    fileUrl: JSON.stringify({ ubuntu: [`${server.url}/${path}`] }),
    md5: JSON.stringify({ ubuntu: md5Of(file).toUpperCase() }),
    deployBlockHeight: height,
  })

async function until({ chain }: Node, id: string, status: string): Promise<void> {
  while (shown(chain, id).Detail['status'] !== status) await new Promise((done) => setTimeout(done, 5))
}

test('a proposal is fetched once it is committed, deployed after the block of its point; its status is under no app hash', async () => {
  const node = startNode()
  const { chain, libraries, home, log } = node
  expect(existsSync(`${home}/eni`)).toBe(false)
  const [good, bad, dropped] = [
    ['good', 'file'],
    ['bad', 'absent'],
    ['dropped', 'file'],
  ].map(([name = '', path = '']) => proposed(chain, account(1), 'proposeDeployLibEni', message(name, path, 12))) as [
    string,
    string,
    string,
  ]
  const hash = chain.store.appHash()
  await until(node, good, 'ready')
  await until(node, bad, 'failed')
  await until(node, dropped, 'ready')
  expect(chain.store.appHash()).toEqual(hash)
  expect([libraries().count('ready'), libraries().count('deployed'), libraries().count('failed', 'collapsed')]).toEqual(
    [2, 0, 1],
  )
  voted(chain, account(1), good)
  voted(chain, account(1), bad)
  voted(chain, account(1), dropped, 'N')
  await until(node, dropped, 'rejected')
  chain.advanceTo(11)
  expect(shown(chain, good).Detail['status']).toBe('ready')
  chain.advanceTo(12)
  await until(node, good, 'deployed')
  await until(node, bad, 'collapsed')
  expect([libraries().count('ready'), libraries().count('deployed'), libraries().count('failed', 'collapsed')]).toEqual(
    [0, 1, 1],
  )
  expect(existsSync(libPath(home, { name: 'good', version: 'v1.0.0' }))).toBe(true)
  expect(log).toContainEqual({
    event: 'svc.governance.lib_status',
    proposal_id: good,
    name: 'good',
    version: 'v1.0.0',
    status: 'deployed',
  })
  await libraries().close()
})

test('what was decided while the node was away is carried out at its next start', async () => {
  let isAway = false
  const node = startNode('ubuntu', () => isAway)
  const { chain, restart, libraries } = node
  const [approved, expired] = ['a', 'b'].map((name) =>
    proposed(chain, account(1), 'proposeDeployLibEni', message(name, 'file', 8)),
  ) as [string, string]
  await until(node, approved, 'ready')
  await until(node, expired, 'ready')
  isAway = true
  const late = proposed(chain, account(1), 'proposeDeployLibEni', message('c', 'file', 8))
  for (const id of [approved, late]) voted(chain, account(1), id)
  chain.advanceTo(9)
  expect([approved, expired].map((id) => shown(chain, id).Detail['status'])).toEqual(['ready', 'ready'])
  await restart()
  await until(node, approved, 'deployed')
  await until(node, late, 'deployed')
  await until(node, expired, 'rejected')
  await libraries().close()
})

test('a start reads the libraries that are open or approved, and those rejected meanwhile, of any number of finished ones', async () => {
  let isAway = false
  const node = startNode('ubuntu', () => isAway)
  const { chain, home, restart, libraries } = node
  const propose = (name: string, extra = {}): string =>
    proposed(chain, account(1), 'proposeDeployLibEni', { ...message(name, 'file', chain.height + 5), ...extra })
  const [staged, absent] = [propose('staged'), propose('absent', message('absent', 'absent', chain.height + 5))]
  await until(node, staged, 'ready')
  await until(node, absent, 'failed')
  isAway = true
  voted(chain, account(1), staged, 'N')
  voted(chain, account(1), absent, 'N')
  for (let number = 0; number < 20; number++) voted(chain, account(1), propose(`rejected${number}`), 'N')
  propose('expired')
  const versions = ['v1.0.0', 'v1.1.0'].map((version) => {
    const id = propose('deployed', { version })
    voted(chain, account(1), id)
    chain.advanceTo(chain.height + 5)
    return id
  })
  const waiting = propose('waiting')
  voted(chain, account(1), waiting)
  const open = propose('open')

  const { get, scan } = chain.store
  const read: string[] = []
  const noted = <R>({ name }: Table, row: R): R => {
    if (name === 'proposals') read.push((row as { readonly name: string }).name)
    return row
  }
  function* notedRows(table: Table, rows: Scan<string>): Generator<object> {
    for (const row of scan(table, rows)) yield noted(table, row)
  }
  Object.assign(chain.store, {
    get: (table: Table, key: object) => noted(table, get(table, key)),
    scan: notedRows,
  })
  await restart()
  Object.assign(chain.store, { get, scan })
  expect(read.sort()).toEqual(['absent', 'deployed', 'deployed', 'open', 'staged', 'waiting'])
  for (const id of versions) await until(node, id, 'deployed')
  for (const id of [waiting, open]) await until(node, id, 'ready')
  const statusOf = (id: string): string | undefined =>
    chain.store.get(libraryStatus, { proposalId: parseProposalId(id) as ProposalId })?.status
  while (statusOf(staged) !== 'rejected' || statusOf(absent) !== 'rejected')
    await new Promise((done) => setTimeout(done, 5))
  expect(namesIn(home, 'lib')).toEqual(['deployed-current.so', 'deployed-v1.0.0.so', 'deployed-v1.1.0.so'])
  expect(readlinkSync(`${home}/eni/lib/deployed-current.so`)).toBe('deployed-v1.1.0.so')
  expect(namesIn(home, 'staging')).toHaveLength(2)
  await libraries().close()
})

test('after blocks that were left out, as by state sync, the first committed one makes it look at every proposal', async () => {
  let isAway = true
  const node = startNode('ubuntu', () => isAway)
  const id = proposed(node.chain, account(1), 'proposeDeployLibEni', message('a', 'file', 5))
  voted(node.chain, account(1), id)
  node.chain.advanceTo(6)
  isAway = false
  node.chain.block()
  await until(node, id, 'deployed')
  await node.libraries().close()
})

test('a file for another OS is not taken; a row that is as it should be is not written again', async () => {
  const node = startNode('centos')
  const { chain, restart, libraries } = node
  const id = proposed(chain, account(1), 'proposeDeployLibEni', message('a', 'file', 5))
  await until(node, id, 'failed')
  voted(chain, account(1), id)
  chain.advanceTo(5)
  await until(node, id, 'collapsed')
  const writes: unknown[] = []
  const { putLocal } = chain.store
  Object.assign(chain.store, {
    putLocal: (...args: Parameters<typeof putLocal>) => {
      writes.push(args)
      putLocal(...args)
    },
  })
  await restart()
  while (libraries().count('collapsed') === 0) await new Promise((done) => setTimeout(done, 5))
  expect(writes).toEqual([])
  expect(chain.store.get(libraryStatus, { proposalId: parseProposalId(id) as ProposalId })?.status).toBe('collapsed')
  await libraries().close()
})

test('a status that cannot be written is logged, and the node goes on', async () => {
  const node = startNode()
  const { chain, log, libraries } = node
  Object.assign(chain.store, {
    putLocal: () => {
      throw new Error('database or disk is full')
    },
  })
  proposed(chain, account(1), 'proposeDeployLibEni', message('a', 'file', 9))
  while (libraries().count('ready') === 0) await new Promise((done) => setTimeout(done, 5))
  expect(log).toContainEqual(
    expect.objectContaining({ err: expect.objectContaining({ message: 'database or disk is full' }) }),
  )
  chain.block()
  await libraries().close()
})
