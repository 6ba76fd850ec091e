import { appendFileSync } from 'node:fs'
import type { CompleteApplication, PrepareProposalRequest, PrepareProposalResponse } from '../../src/abci/types.ts'
import { addressBytes, addressOfKey } from '../../src/values/address.ts'
import { toHex } from '../../src/base/bytes.ts'
import { keyPairOfSeed } from '../../src/base/ed25519.ts'
import { PUBLIC_MNEMONIC, seedsOfMnemonic } from '../../src/keys/mnemonic.ts'
import { nonceOf } from '../../src/modules/accounts/keeper.ts'
import { getChain } from '../../src/modules/chain/keeper.ts'
import type { Store } from '../../src/store/store.ts'
import { encodeBody, TX_BYTES_MAX, txHash } from '../../src/tx/envelope.ts'
import { random } from '../chain/support.ts'
import { type Next, pick, randomBytes } from '../fuzz/bytes.ts'
import { type Base, baseOfBody, MUTANTS } from '../fuzz/transactions.ts'
import type { Trait } from './trait.ts'

/** The account of the public mnemonic that only the malicious proposer signs with. */
const OWN_ACCOUNT = 9
const pair = keyPairOfSeed(seedsOfMnemonic(PUBLIC_MNEMONIC, OWN_ACCOUNT + 1)[OWN_ACCOUNT] as Uint8Array)
const own = addressOfKey(pair.publicKey)

type Txs = readonly Uint8Array[]

/** What a proposal is made of. */
interface Makings {
  readonly next: Next
  /** What the real application would propose. */
  readonly honest: Txs
  /** A transfer of the proposer's own, `ahead` of its next nonce. */
  readonly sign: (ahead: number, value?: string) => Base
  readonly maxTxBytes: number
}

/**
 * What honest nodes have to do: refuse the block, or execute it to these codes of its last transactions. `kills`: the
 * proposer's own CometBFT ends its consensus, which protects the others.
 */
interface Malice {
  readonly make: (makings: Makings) => Txs
  readonly codes?: readonly number[]
  readonly kills?: boolean
}

const refuse = (make: Malice['make']): Malice => ({ make })
const execute = (make: Malice['make'], codes: readonly number[]): Malice => ({ make, codes })

/** A bad transaction behind, between or before good ones. */
function among({ next, honest, sign }: Makings, bad: Uint8Array): Txs {
  const good = [...honest, sign(0).bytes]
  return good.toSpliced(next(good.length + 1), 0, bad)
}

const mutants: readonly (readonly [string, Malice])[] = Object.entries(MUTANTS).map(([name, mutate]) => [
  name,
  refuse((makings) => among(makings, pick(makings.next, mutate(makings.next, makings.sign(1))))),
])

const USES_NONCES = 'what nobody broadcast'

/** Every kind of proposal that no honest node makes, by its name. */
const MALICE: Readonly<Record<string, Malice>> = {
  ...Object.fromEntries(mutants),
  'random bytes': refuse((makings) => among(makings, randomBytes(makings.next, 1 + makings.next(300)))),
  'no bytes': refuse((makings) => among(makings, new Uint8Array(0))),
  'a transaction that is too long': refuse((makings) => among(makings, new Uint8Array(TX_BYTES_MAX + 1).fill(10))),
  'a nonce left out': refuse(({ honest, sign, next }) => [...honest, sign(1 + next(1000)).bytes]),
  'a nonce again': refuse(({ honest, sign }) => [...honest, sign(-1).bytes]),
  'the same twice': refuse(({ honest, sign }) => [sign(0).bytes, ...honest, sign(0).bytes]),
  'the same nonce twice': refuse(({ honest, sign }) => [sign(0).bytes, ...honest, sign(0, '2').bytes]),
  'out of order': refuse(({ honest, sign }) => [sign(1).bytes, ...honest, sign(0).bytes]),
  'nothing of the mempool': execute(() => [], []),
  [USES_NONCES]: execute(({ honest, sign }) => [...honest, sign(0).bytes, sign(1).bytes], [0, 0]),
  'operations that fail': execute(
    ({ sign }) => [sign(0, '0').bytes, sign(1, '9'.repeat(35)).bytes, sign(2, 'x').bytes, sign(3).bytes],
    [20, 20, 20, 0],
  ),
}

const TOO_MUCH: Malice = {
  make: ({ next, maxTxBytes }) =>
    Array.from({ length: Math.ceil(maxTxBytes / TX_BYTES_MAX) + 1 }, () =>
      new Uint8Array(TX_BYTES_MAX).fill(next(256)),
    ),
  kills: true,
}

/** How many kinds there are. */
export const KINDS: number = Object.keys(MALICE).length

/** One malicious proposal, as the proposer writes it down before it is sent. */
export interface Proposed extends Pick<Malice, 'codes' | 'kills'> {
  readonly height: number
  /** Address of the proposer's key: 0x and lower-case hex. */
  readonly proposer: string
  readonly kind: string
  /** The hashes of its transactions. */
  readonly txs: readonly string[]
}

/**
 * PrepareProposal of a malicious proposer: every kind in turn. After `tooMuchAfter` proposals it proposes more than
 * max_tx_bytes.
 */
export function proposerOf(
  inner: CompleteApplication,
  store: Store,
  { seed, log, tooMuchAfter }: NonNullable<Trait['proposes']>,
): (request: PrepareProposalRequest) => Promise<PrepareProposalResponse> {
  const next = random(seed)
  const offset = next(KINDS)
  let made = 0
  return async (request) => {
    const { txs: honest = [] } = await inner.prepareProposal(request)
    if (store.height() === 0) return { txs: honest } // There is no state yet to sign for.
    const { chainId } = getChain(store)
    const nonce = nonceOf(store, own)
    const sign = (ahead: number, value = '1'): Base =>
      baseOfBody(
        pair,
        encodeBody({
          chainId,
          from: addressBytes(own),
          nonce: nonce + ahead,
          operation: 'transfer',
          message: { to: new Uint8Array(20).fill(0x5e), value },
        }),
      )
    const isTooMuch = made >= tooMuchAfter
    // Before there is a nonce to use again.
    const turn = nonce === 0 ? USES_NONCES : Object.keys(MALICE)[(offset + made) % KINDS]
    const kind = isTooMuch ? 'more than max_tx_bytes' : (turn as string)
    const malice = MALICE[kind] ?? TOO_MUCH
    const txs = malice.make({ next, honest, sign, maxTxBytes: request.maxTxBytes })
    made += 1
    const { codes, kills } = malice
    const proposed: Proposed = {
      height: request.height,
      proposer: `0x${toHex(request.proposerAddress)}`,
      kind,
      txs: txs.map(txHash),
      ...(codes && { codes }),
      ...(kills && { kills }),
    }
    appendFileSync(log, `${JSON.stringify(proposed)}\n`)
    return { txs }
  }
}
