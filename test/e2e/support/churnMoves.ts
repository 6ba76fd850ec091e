import { TOKEN } from '../../../src/base/amount.ts'
import { NOT_IN_BLOCK } from '../../../src/client/errors.ts'
import { type Svc, SvcRpcError, SvcTxError } from '../../../src/client/index.ts'

/** A whole number of 0 to below `limit`. */
export type Random = (limit: number) => number

/**
 * Who acts: accounts whose keys the client has, the keys that nodes sign with, and one account that declares keys of
 * nobody.
 */
export interface Cast {
  readonly svc: Svc
  readonly next: Random
  readonly accounts: readonly string[]
  readonly stranger: string
  readonly nodeKeys: readonly string[]
  /** Waits for so many more blocks. */
  readonly blocks: (count: number) => Promise<void>
}

/** A candidacy record as the chain tells it. */
type Row = NonNullable<Awaited<ReturnType<typeof rowOf>>>

/** So many active members of the set whose key a node has stay whatever anybody does, but for everyoneLeaves. */
const STAY_MIN = 2
/**
 * What a new candidacy may hold; the sender stakes a tenth. The stranger's is far below anybody's, or above all
 * together.
 */
const MAX_AMOUNT = 1_000_000n * TOKEN
const STRANGER_AMOUNTS = [10_000n * TOKEN, 100_000_000n * TOKEN] as const

async function rowOf(svc: Svc, account: string) {
  const { data } = await svc.async.stake.validator.query(account)
  if (data === null) return undefined
  return {
    owner: data.owner_address,
    pubKey: data.pub_key.value,
    maxShares: BigInt(data.max_shares),
    isLive: data.state !== 'Withdrawn',
    isActive: data.active === 'Y',
    isInSet: data.state === 'Validator',
  }
}

/** One step's view of the chain. Whoever has a part in a move is out of the others of the same step. */
function stageOf(cast: Cast, rows: readonly Row[]) {
  const { next, stranger, nodeKeys, accounts } = cast
  const busy = new Set<string>()
  const row = (owner: string): Row | undefined => rows.find((one) => one.owner === owner)
  const active = rows.filter(({ owner, isActive }) => owner !== stranger && isActive)
  const members = active.filter(({ isInSet }) => isInSet)
  let leavers = members.length - STAY_MIN
  const take = (from: readonly string[]): string | undefined => {
    const idle = from.filter((one) => !busy.has(one))
    const taken = idle[next(Math.max(1, idle.length))]
    if (taken !== undefined) busy.add(taken)
    return taken
  }
  const takeRow = (from: readonly Row[]): Row | undefined => row(take(from.map(({ owner }) => owner)) ?? '')
  return {
    cast,
    row,
    active,
    members,
    takeRow,
    takeKey: () => take(nodeKeys.filter((key) => !rows.some((one) => one.isLive && one.pubKey === key))),
    /** An account without a live candidacy. */
    takeIdle: () => take(accounts.filter((one) => row(one)?.isLive !== true)),
    /** A candidacy that was active and is not. */
    takeSleeper: () => takeRow(rows.filter(({ owner, isActive }) => owner !== stranger && !isActive)),
    /** A candidacy that may leave the set. */
    takeLeaver: () => {
      const taken = takeRow(leavers > 0 ? active : active.filter(({ isInSet }) => !isInSet))
      if (taken?.isInSet === true) leavers -= 1
      return taken
    },
  }
}
type Stage = ReturnType<typeof stageOf>

type Sent = Promise<unknown>

const when = <T>(given: T | undefined, act: (given: T) => Sent): Sent | undefined =>
  given === undefined ? undefined : act(given)
const both = <A, B>(a: A | undefined, b: B | undefined, act: (a: A, b: B) => Sent): Sent | undefined =>
  a === undefined || b === undefined ? undefined : act(a, b)
const randomKey = ({ next }: Cast): string =>
  Buffer.from(Array.from({ length: 32 }, () => next(256))).toString('base64')

/** A refusal, or a block that came late: whether the chain stands still is the watch's to say. */
const isNoFault = (error: unknown): boolean =>
  error instanceof SvcTxError || (error instanceof SvcRpcError && error.code === NOT_IN_BLOCK)

/** One member proposes, all vote, one of them with no now and then. */
async function changeMaxVals({ cast: { svc, next, nodeKeys }, members }: Stage): Promise<void> {
  const { governance } = svc.async
  const low = Math.ceil(nodeKeys.length / 2)
  const value = String(low + next(nodeKeys.length - low + 1))
  const from = members[0]?.owner as string
  const {
    deliver_tx: { data = '' },
  } = await governance.proposeChangeParam({ from, name: 'max_vals', value })
  const no = next(4 * members.length)
  const votes = await Promise.allSettled(
    members.map(({ owner }, at) => governance.vote({ from: owner, proposalId: data, answer: at === no ? 'N' : 'Y' })),
  )
  // Once enough have said yes the others come too late.
  for (const vote of votes) if (vote.status === 'rejected' && !isNoFault(vote.reason)) throw vote.reason
}

/**
 * Everybody whose key a node has leaves, a key of nobody stays: the set last sent has to go on (protocol.md §4.4). Then
 * all come back.
 */
async function everyoneLeaves({ cast, active, row }: Stage): Promise<void> {
  const { validator } = cast.svc.async.stake
  const { stranger: from } = cast
  if (row(from)?.isLive !== true)
    await validator.declare({ from, pubKey: randomKey(cast), maxAmount: STRANGER_AMOUNTS[0] })
  else if (row(from)?.isActive === false) await validator.activate({ from })
  const owners = active.map(({ owner }) => owner)
  await Promise.all(owners.map((owner) => validator.deactivate({ from: owner })))
  await cast.blocks(5)
  await Promise.all(owners.map((owner) => validator.activate({ from: owner })))
}

/** Takes back what an account has staked with some validator, or half of it. The chain refuses who has staked nothing. */
async function takeBack({ cast: { svc, next, accounts }, active }: Stage): Promise<void> {
  const { delegator } = svc.async.stake
  const from = accounts[next(accounts.length)] as string
  const staked = (await delegator.query(from)).data.filter(({ validator_address: owner }) => owner !== null)
  const { validator_address: owner, shares = '0' } = staked[next(Math.max(1, staked.length))] ?? {}
  const validatorAddress = owner ?? (active[0]?.owner as string)
  const half = BigInt(shares) / 2n
  await delegator.withdraw({
    from,
    validatorAddress,
    ...(half > 0n && next(2) === 0 ? { amount: half } : { completelyWithdraw: 'Y' }),
  })
}

const MOVES: Readonly<Record<string, (stage: Stage) => Sent | undefined>> = {
  transfer: ({ cast: { svc, next, accounts } }) =>
    svc.async.transfer({
      from: accounts[next(accounts.length)] as string,
      to: accounts[next(accounts.length)] as string,
      value: 1n + BigInt(next(1000)),
    }),
  delegate: ({ cast: { svc, next, accounts }, active }) =>
    when(active[next(active.length)], ({ owner: validatorAddress }) =>
      svc.async.stake.delegator.accept({
        from: accounts[next(accounts.length)] as string,
        validatorAddress,
        amount: BigInt(1 + next(20_000)) * TOKEN,
      }),
    ),
  undelegate: (stage) => (stage.active.length === 0 ? undefined : takeBack(stage)),
  declare: ({ cast: { svc }, takeIdle, takeKey }) =>
    both(takeIdle(), takeKey(), (from, pubKey) =>
      svc.async.stake.validator.declare({ from, pubKey, maxAmount: MAX_AMOUNT }),
    ),
  withdraw: ({ cast: { svc }, takeLeaver }) =>
    when(takeLeaver(), ({ owner: from }) => svc.async.stake.validator.withdraw({ from })),
  deactivate: ({ cast: { svc }, takeLeaver }) =>
    when(takeLeaver(), ({ owner: from }) => svc.async.stake.validator.deactivate({ from })),
  activate: ({ cast: { svc }, takeSleeper }) =>
    when(takeSleeper(), ({ owner: from }) => svc.async.stake.validator.activate({ from })),
  changeKey: ({ cast: { svc }, takeRow, active, takeKey }) =>
    both(takeRow(active), takeKey(), ({ owner: from }, pubKey) => svc.async.stake.validator.update({ from, pubKey })),
  changeToDeadKey: ({ cast, takeLeaver }) =>
    when(takeLeaver(), ({ owner: from }) => cast.svc.async.stake.validator.update({ from, pubKey: randomKey(cast) })),
  withdrawAndDeclareAgain: ({ cast: { svc }, takeLeaver }) =>
    when(takeLeaver(), async ({ owner: from, pubKey }) => {
      const { validator } = svc.async.stake
      await validator.withdraw({ from })
      await validator.declare({ from, pubKey, maxAmount: MAX_AMOUNT })
    }),
  stakeMore: ({ cast: { svc, next }, takeRow, active }) =>
    when(takeRow(active), ({ owner: from, maxShares }) =>
      svc.async.stake.validator.update({ from, maxAmount: maxShares + BigInt(1 + next(500_000)) * TOKEN }),
    ),
  handOver: ({ cast: { svc }, takeRow, active, takeIdle }) =>
    both(takeRow(active), takeIdle(), async ({ owner }, from) => {
      const { validator } = svc.async.stake
      const {
        deliver_tx: { data = '' },
      } = await validator.updateAccount({ from: owner, newCandidateAccount: from })
      await validator.acceptAccountUpdate({ from, accountUpdateRequestId: Buffer.from(data, 'base64').toString() })
    }),
  strangerComesOrGoes: ({ cast, row }) => {
    const { svc, next, stranger: from } = cast
    const { validator } = svc.async.stake
    return row(from)?.isLive === true
      ? validator.withdraw({ from })
      : validator.declare({ from, pubKey: randomKey(cast), maxAmount: STRANGER_AMOUNTS[next(2)] as bigint })
  },
  changeMaxVals: (stage) => (stage.members.length === 0 ? undefined : changeMaxVals(stage)),
}

/** How often a move was committed, and how often the chain refused it or some part of it, or had it in no block in time. */
export interface Tally {
  done: number
  refused: number
}

/**
 * Makes moves on a network until `isOver`, which is told how many were committed; returns them. Throws on anything but
 * a refusal or a late block.
 */
export async function makeMoves(cast: Cast, isOver: (done: number) => boolean): Promise<ReadonlyMap<string, Tally>> {
  const { svc, next, accounts, stranger } = cast
  const tallies = new Map([...Object.keys(MOVES), 'everyoneLeaves'].map((name) => [name, { done: 0, refused: 0 }]))
  const count = async (name: string, sent: Sent): Promise<void> => {
    const tally = tallies.get(name) as Tally
    try {
      await sent
      tally.done += 1
    } catch (error) {
      if (!isNoFault(error)) throw error
      tally.refused += 1
    }
  }
  let deck: string[] = []
  const draw = (): string => {
    // Two moves take away from the set, so two bring back: it shall be of every size.
    if (deck.length === 0) deck = [...tallies.keys(), 'activate', 'declare']
    return deck.splice(next(deck.length), 1)[0] as string
  }
  while (!isOver([...tallies.values()].reduce((sum, { done }) => sum + done, 0))) {
    const rows = await Promise.all([...accounts, stranger].map((account) => rowOf(svc, account)))
    const stage = stageOf(
      cast,
      rows.filter((row) => row !== undefined),
    )
    const names = Array.from({ length: 1 + next(3) }, draw)
    if (stage.members.length < STAY_MIN) names.unshift('activate', 'activate', 'activate')
    // Who leaves is not asked twice: this one needs the stage for itself.
    if (names.includes('everyoneLeaves')) await count('everyoneLeaves', everyoneLeaves(stage))
    else await Promise.all(names.map((name) => when(MOVES[name]?.(stage), (sent) => count(name, sent))))
  }
  return tallies
}
