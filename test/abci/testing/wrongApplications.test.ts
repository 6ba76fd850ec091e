import { describe, expect, test } from '@jest/globals'
import {
  type Application,
  ApplySnapshotChunkResult,
  OfferSnapshotResult,
  ProposalStatus,
  VerifyStatus,
} from '../../../src/abci/index.ts'
import { createTestChain, type Requirement, RequirementError } from '../../../src/abci/testing/index.ts'
import { examplesRunBy } from '../../docs/examples.ts'
import { hashOf, openSmall, type Small } from './smallApplication.ts'
import { disks, live, OPTIONS } from './support.ts'

/** A mistake: the handlers that a wrong application has in place of the small one's. */
type Mistake = (small: Small, node: number) => Application

const flip = (): (() => boolean) => {
  let is = false
  return () => (is = !is)
}
const counted = (): (() => number) => {
  let count = 0
  return () => count++
}
const hashWith = (more: unknown): Uint8Array => Buffer.from(JSON.stringify(more)).subarray(0, 32)
const wrongHash = (small: Small, more: () => unknown): Application => ({
  finalizeBlock: async (request) => ({
    ...(await small.application.finalizeBlock(request)),
    appHash: hashWith([more(), small.next]),
  }),
  info: () => ({}),
})
let everything = 0

const MISTAKES: readonly (readonly [Requirement, string, Mistake, RegExp])[] = [
  [
    2,
    'proposes more than fits',
    () => ({ prepareProposal: ({ txs, maxTxBytes }) => ({ txs: [...txs, new Uint8Array(maxTxBytes)] }) }),
    /node \d returned \d+ transactions? of \d+ bytes, and maxTxBytes was \d+/,
  ],
  [
    3,
    'proposes what it rejects',
    ({ application }) => ({
      prepareProposal: async (request) => {
        const { txs = [] } = await application.prepareProposal(request)
        return { txs: txs.length > 0 ? [...txs, Buffer.from('x')].slice(-1) : [] }
      },
    }),
    /the validators rejected the block of 1 transaction that node \d prepared/,
  ],
  [
    4,
    'judges a block by how often it was asked',
    () => {
      const isOdd = flip()
      return { processProposal: () => ({ status: ProposalStatus[isOdd() ? 'accept' : 'reject'] }) }
    },
    /node \d accepted and then rejected the same block/,
  ],
  [
    5,
    'judges a block by its own number',
    (_small, node) => ({ processProposal: () => ({ status: ProposalStatus[node === 1 ? 'reject' : 'accept'] }) }),
    /node 0 accepted and node 1 rejected the same block/,
  ],
  [
    6,
    'extends its vote with what it rejects',
    () => ({ extendVote: () => ({ voteExtension: Buffer.from('nonsense') }) }),
    /the vote extension 6e6f6e73656e7365 of a correct validator was rejected/,
  ],
  [
    7,
    'judges an extension by how often it was asked',
    () => {
      const isOdd = flip()
      return { verifyVoteExtension: () => ({ status: VerifyStatus[isOdd() ? 'accept' : 'reject'] }) }
    },
    /node \d accepted and then rejected the same vote extension/,
  ],
  [
    8,
    'judges an extension by its own number',
    (_small, node) => ({ verifyVoteExtension: () => ({ status: VerifyStatus[node === 1 ? 'reject' : 'accept'] }) }),
    /node \d (?:accepted|rejected) and node \d (?:accepted|rejected) the same vote extension/,
  ],
  [
    9,
    'commits what is proposed',
    ({ application, disk }) => ({
      processProposal: (request) => {
        disk.state = { ...disk.state, names: [...disk.state.names, 'proposed'] }
        return application.processProposal(request)
      },
    }),
    /calls before the decision changed the answers of node \d: \/count: {"value":"30"}, and then \/count: {"value":"3\d"}/,
  ],
  [
    9,
    'counts proposals into the next block',
    (small) => {
      const proposals = counted()
      return {
        ...wrongHash(small, proposals),
        processProposal: (request) => {
          proposals()
          return small.application.processProposal(request)
        },
        finalizeBlock: async (request) => {
          const response = await small.application.finalizeBlock(request)
          return { ...response, appHash: hashWith([proposals(), request.height]) }
        },
      }
    },
    /calls of ProcessProposal changed what block 1 leads to/,
  ],
  [
    10,
    'writes the extensions that it receives into the next block',
    (small) => {
      const received: number[] = []
      return {
        ...wrongHash(small, () => received.length),
        verifyVoteExtension: (request) => {
          received.push(request.voteExtension.length)
          return small.application.verifyVoteExtension(request)
        },
      }
    },
    /calls of VerifyVoteExtension, which receives the extensions, changed what block 1 leads to/,
  ],
  [
    11,
    'hashes a number of the whole process',
    (small) => wrongHash(small, () => everything++),
    /two new nodes that were given the same blocks answered/,
  ],
  [
    11,
    'lets CheckTx change the next block',
    (small) => {
      const checks = counted()
      let seen = 0
      return {
        ...wrongHash(small, () => seen),
        checkTx: (request) => {
          seen = checks() + 1
          return small.application.checkTx(request)
        },
      }
    },
    /calls of CheckTx changed what block \d leads to/,
  ],
  [
    11,
    'forgets at a restart what a block depends on',
    ({ application, disk }) => {
      let first = -1
      return {
        finalizeBlock: async (request) => {
          if (first < 0) first = request.height
          const response = await application.finalizeBlock(request)
          return {
            ...response,
            validatorUpdates:
              first === 1 || disk.state.height < 3
                ? []
                : [{ pubKey: { ed25519: new Uint8Array(32).fill(1) }, power: 11 }],
          }
        },
      }
    },
    /executed block \d+ and answered .*, and node \d was restarted before|replayed block \d+ and answered another state/,
  ],
  [
    12,
    'says how often it was asked in a result',
    (small) => {
      const asked = counted()
      return {
        checkTx: (request) => {
          asked()
          return small.application.checkTx(request)
        },
        finalizeBlock: async (request) => {
          const response = await small.application.finalizeBlock(request)
          return { ...response, txResults: response.txResults?.map((one) => ({ ...one, gasUsed: asked() })) ?? [] }
        },
      }
    },
    /node \d and node \d answered block \d with the results/,
  ],
  [
    13,
    'accepts a transaction on one node alone',
    (_small, node) => ({ checkTx: () => ({ code: node }) }),
    /CheckTx of one transaction on the same state answered 0 on node 0 and 1 on node 1/,
  ],
  [
    13,
    'accepts a transaction at every other height',
    ({ disk }) => ({ checkTx: () => ({ code: disk.state.height % 2 }), prepareProposal: () => ({}) }),
    /CheckTx accepted and refused the transaction [0-9a-f]+ in turn, \d times/,
  ],
  [
    'Crash Recovery',
    'reports a block that is not committed',
    (small) => ({ info: () => ({ lastBlockHeight: small.next.height, lastBlockAppHash: hashOf(small.next) }) }),
    /Info of node \d reports block \d, and the last Commit was that of block \d/,
  ],
  [
    'Crash Recovery',
    'makes a block the state before Commit',
    (small) => ({
      finalizeBlock: async (request) => {
        const response = await small.application.finalizeBlock(request)
        small.disk.state = small.next
        return response
      },
    }),
    /Info of node \d reports block \d, and the last Commit was that of block \d/,
  ],
  [
    'Crash Recovery',
    'reports the app hash of the block before',
    ({ disk }) => ({ info: () => ({ lastBlockHeight: disk.state.height, lastBlockAppHash: hashWith('before') }) }),
    /Info of node \d reports the app hash [0-9a-f]+ for block 1, and FinalizeBlock returned [0-9a-f]{64}/,
  ],
  [
    'Info/Query Connection',
    'answers queries from a block that is not committed',
    (small) => ({ query: () => ({ value: Buffer.from(String(small.next.names.length)) }) }),
    /FinalizeBlock changed, before Commit, the answers of node \d/,
  ],
  [
    'InitChain',
    'begins with a hash of its own',
    (_small, node) => ({ initChain: () => ({ appHash: Uint8Array.of(node) }) }),
    /node \d answered the same genesis otherwise than the first node/,
  ],
  [
    'State Sync',
    'lists snapshots with a number of its own',
    ({ disk }, node) => ({
      listSnapshots: () => ({
        snapshots: disk.snapshots.map(({ snapshot }) => ({ ...snapshot, metadata: Uint8Array.of(node) })),
      }),
    }),
    /node \d and node \d have different snapshots of height 3 and format 1/,
  ],
  [
    'State Sync',
    'loads chunks with a byte of its own',
    (_small, node) => ({ loadSnapshotChunk: () => ({ chunk: Uint8Array.of(node) }) }),
    /node \d and node \d have different bytes for chunk 0 of the snapshot of height 18/,
  ],
  [
    'State Sync',
    'refuses its own snapshots',
    () => ({ offerSnapshot: () => ({ result: OfferSnapshotResult.rejectFormat }) }),
    /node \d answered OfferSnapshot with rejectFormat, and nobody had changed the snapshot of height 18/,
  ],
  [
    'State Sync',
    'takes chunks and restores nothing',
    () => ({ applySnapshotChunk: () => ({ result: ApplySnapshotChunkResult.accept }) }),
    /after the snapshot of height 18 Info of node \d reports block 0 with the app hash \(empty\)/,
  ],
  [
    'State Sync',
    'asks for a chunk that it has taken for ever',
    () => ({
      applySnapshotChunk: ({ index }) => ({ result: ApplySnapshotChunkResult.accept, refetchChunks: [index] }),
    }),
    /node \d asked 11 times for chunks again, and nobody had changed the snapshot of height 18/,
  ],
  [
    'State Sync',
    'believes a snapshot that somebody has changed',
    ({ disk }) => {
      let trusted: Uint8Array = new Uint8Array(0)
      const chunks: Uint8Array[] = []
      return {
        offerSnapshot: ({ appHash, snapshot }) => {
          trusted = appHash
          disk.state = { ...disk.state, height: snapshot?.height ?? 0 }
          return { result: OfferSnapshotResult.accept }
        },
        applySnapshotChunk: ({ chunk }) => {
          chunks.push(chunk)
          return { result: ApplySnapshotChunkResult.accept }
        },
        ...(disk.state.height === 0 && {
          info: () => ({
            lastBlockHeight: disk.state.height,
            lastBlockAppHash: trusted.length > 0 ? trusted : hashOf(disk.state),
          }),
        }),
      }
    },
    /node \d was given a snapshot of height 18 that somebody had changed, and took it or threw: /,
  ],
  [
    'Updating the Validator Set',
    'removes a validator that is not there',
    ({ application }) => ({
      finalizeBlock: async (request) => ({
        ...(await application.finalizeBlock(request)),
        validatorUpdates: [{ pubKey: { ed25519: new Uint8Array(32) }, power: 0 }],
      }),
    }),
    /an update gives power 0 to the key 0{64}, which is not in the set/,
  ],
  [
    'Valid method call sequences',
    'takes InitChain for the first one',
    ({ disk }) => ({
      initChain: () => {
        if (disk.snapshots.length > 0) throw new Error('there is a genesis already')
        disk.snapshots.push({
          snapshot: { height: 0, format: 0, chunks: 0, hash: Buffer.alloc(0), metadata: Buffer.alloc(0) },
          chunks: [],
        })
        return {}
      },
    }),
    /node \d threw at initChain, after info: Error: there is a genesis already/,
  ],
  [
    'Valid method call sequences',
    'forgets the result of a transaction',
    () => ({ finalizeBlock: ({ txs }) => ({ txResults: txs.slice(1).map(() => ({})) }) }),
    /threw at finalizeBlock, after .*: TypeError: finalizeBlock: txResults: expected 1, one for each transaction, got 0/,
  ],
]

describe('a wrong application is caught', () => {
  test('with a message such as those in README', () => {
    const [{ code }] = examplesRunBy('test/abci/testing/wrongApplications.test.ts')
    const lines = code.trim().split('\n')
    const known = (line: string): boolean =>
      MISTAKES.some(([requirement, , , message]) => {
        const title = typeof requirement === 'number' ? `Requirement ${requirement} [` : `${requirement}: `
        return line.startsWith(`RequirementError: ${title}`) && message.test(line.replaceAll(/\d+/g, '1'))
      })
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.filter((line) => !known(line))).toEqual([])
  })

  test.each(MISTAKES)('%s: one that %s', async (requirement, _what, mistake, message) => {
    const disk = disks()
    const open = (node: number): Application => {
      const small = openSmall(disk(node))
      return { ...small.application, ...mistake(small, node) }
    }
    const caught = await createTestChain(open, OPTIONS)
      .then(live)
      .catch((error: unknown) => error)
    expect(caught).toBeInstanceOf(RequirementError)
    const error = caught as RequirementError
    expect([error.requirement, error.message]).toEqual([requirement, expect.stringMatching(message)])
  })
})
