import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { NodeError } from '../../../src/comet/errors.ts'
import type { NodeBlock, NodeRpc } from '../../../src/comet/rpc.ts'
import { openHistoryWriter, prepareHistory } from '../../../src/node/history/file.ts'
import { rebuildHistory } from '../../../src/node/history/rebuild.ts'
import { tables, views } from '../../../src/modules/registry.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { makePlace, svcd } from '../../cli/support.ts'
import { startChain } from '../../modules/support.ts'
import { serveCalls } from '../../support/serveCalls.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { CHAIN_ID } from '../../support/testChain.ts'

const { path: folder, remove } = tempFolder('rebuild')
afterAll(remove)

const emptyBlock = (height: number): NodeBlock => ({
  height,
  hash: '',
  parentHash: '',
  timeMs: height,
  proposer: '0x',
  appHash: '',
  chainId: 'chain',
  txs: [],
})

/** A node of 250 empty blocks that prunes one more with each block that it is asked for, as far as `prunesTo`. */
function nodeThatPrunes(prunesTo: number): Pick<NodeRpc, 'status' | 'block' | 'blockResults'> {
  let earliest = 1
  return {
    status: async () => ({ earliestHeight: earliest }) as Awaited<ReturnType<NodeRpc['status']>>,
    block: async (height = 0) => {
      earliest = Math.min(prunesTo, earliest + 1)
      if (height < earliest || height === 77)
        throw new NodeError('NotFound', `height ${height} is not available, lowest height is ${earliest}`)
      return emptyBlock(height)
    },
    blockResults: async () => ({ results: [], eventsOfTx: () => [], eventsOfBlock: () => [] }),
  }
}

const rebuild = async (name: string, prunesTo: number, cutsAt = 0) => {
  const path = join(folder, name)
  prepareHistory(path, 'chain')
  const index = openHistoryWriter(path, 1024)
  try {
    const onProgress = () => void index.cutBelow(cutsAt)
    const added = await rebuildHistory({ index, rpc: nodeThatPrunes(prunesTo), head: 250, onProgress })
    return [added, index.span()]
  } finally {
    index.close()
  }
}

test('a rebuild ends at the lowest block that the node still has when it comes there', async () => {
  expect(await rebuild('pruned.db', 95)).toEqual([156, { first: 95, last: 250 }])
})

test('a rebuild ends where the index is cut, whatever an archive node has below', async () => {
  expect(await rebuild('cut.db', 1, 95)).toEqual([156, { first: 95, last: 250 }])
})

test('what was cut may be added again once nothing is cut any more', async () => {
  await rebuild('again.db', 1, 95)
  const index = openHistoryWriter(join(folder, 'again.db'), 1024)
  index.cutBelow(0)
  expect(index.lowest()).toBe(0)
  index.close()
})

test('svcd index rebuild --all, too, adds nothing below where the index is cut', async () => {
  const place = makePlace([9, 9, 9])
  const data = join(place.env['SVCD_HOME'] ?? '', 'data')
  mkdirSync(data, { recursive: true })
  const store = openSqliteStore({ path: join(data, 'state.db'), tables, views })
  startChain([1000], {}, { store }).block()
  const head = store.height()
  store.close()
  prepareHistory(join(data, 'history.db'), CHAIN_ID)
  const index = openHistoryWriter(join(data, 'history.db'), 1024)
  index.cutBelow(head + 1)
  index.close()
  const archive = await serveCalls(({ method }) =>
    method === 'status'
      ? {
          result: {
            node_info: { network: CHAIN_ID },
            sync_info: {
              latest_block_height: `${head}`,
              latest_block_time: '2026-01-01T00:00:00Z',
              earliest_block_height: '1',
            },
          },
        }
      : { error: { code: -32603, message: `asked for ${method}` } },
  )
  try {
    const ended = await svcd(place, ['index', 'rebuild', '--all', '--node', archive.url, '--json'])
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(ended.stdout)).toMatchObject({ added: 0, first_height: null })
  } finally {
    await archive.close()
    place.remove()
  }
})

test('a block that the node should have and has not ends the rebuild with its error', async () => {
  await expect(rebuild('hole.db', 5)).rejects.toThrow('height 77 is not available')
})
