import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { CheckTxType } from '../../src/abci/index.ts'
import { gateBlocks } from '../../src/node/blockGate.ts'
import { bytesOf, startChain } from '../modules/support.ts'
import { account } from '../support/testChain.ts'

/** A chain behind a gate, as its node sees it. */
function gatedChain() {
  const chain = startChain()
  // The blocks of this chain are never executed.
  const gate = gateBlocks({ ...chain.app, commit: () => ({}) })
  const { application } = gate
  const transfer = (nonce: number): Uint8Array =>
    chain.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: '1' }, nonce)
  return {
    gate,
    transfer,
    head: chain.height,
    check: async (tx: Uint8Array) => application.checkTx({ tx, type: CheckTxType.new }),
    commit: async () => application.commit({}),
    /** The transactions of the proposal; undefined while it waits. */
    propose: (height: number, txs: readonly Uint8Array[] = []) => {
      let proposed: readonly Uint8Array[] | undefined
      const request = {
        ...chain.next({ txs }),
        height,
        maxTxBytes: 1_000_000,
        localLastCommit: { round: 0, votes: [] },
      }
      const done = Promise.resolve(application.prepareProposal(request)).then((response) => {
        proposed = response.txs ?? []
      })
      return { done, txs: () => proposed }
    },
  }
}

test('an open gate lets every proposal pass', async () => {
  const { propose, head } = gatedChain()
  const proposal = propose(head + 1)
  await proposal.done
  expect(proposal.txs()).toEqual([])
})

test('a proposal waits for a transaction and carries it, with others that come at once', async () => {
  const { gate, propose, check, transfer, head } = gatedChain()
  gate.openTo(head)
  const proposal = propose(head + 1)
  await sleep(20)
  expect(proposal.txs()).toBeUndefined()
  const txs = [transfer(0), transfer(1)]
  await Promise.all(txs.map(check))
  await proposal.done
  expect(proposal.txs()).toEqual(txs.map((tx) => Buffer.from(tx)))
})

test('a transaction that is refused opens nothing; one that came after the mempool was read is not forgotten', async () => {
  const { gate, propose, check, transfer, head } = gatedChain()
  gate.openTo(head)
  const waiting = propose(head + 1)
  expect((await check(transfer(7))).code).not.toBe(0)
  await sleep(20)
  expect(waiting.txs()).toBeUndefined()
  await check(transfer(0))
  await waiting.done
  // CometBFT read an empty mempool, and the transaction was accepted before it asked for the proposal.
  const late = propose(head + 1)
  await late.done
  expect(late.txs()).toHaveLength(1)
})

test('after a commit only what the mempool holds counts', async () => {
  const { gate, propose, check, commit, transfer, head } = gatedChain()
  gate.openTo(head)
  const tx = transfer(0)
  await check(tx)
  await commit()
  const waiting = propose(head + 1)
  await sleep(20)
  expect(waiting.txs()).toBeUndefined()
  const asked = propose(head + 1, [tx])
  await asked.done
  expect(asked.txs()).toEqual([tx])
})

test('heights up to the given one pass without a transaction, and the height only rises', async () => {
  const { gate, propose, head } = gatedChain()
  gate.openTo(head)
  const first = propose(head + 1)
  await sleep(20)
  gate.openTo(head + 2)
  await first.done
  gate.openTo(head)
  await propose(head + 2).done
  const third = propose(head + 3)
  await sleep(20)
  expect(third.txs()).toBeUndefined()
  gate.openTo(Infinity)
  await third.done
})
