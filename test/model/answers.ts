import type {
  Event as AbciEvent,
  ExecTxResult,
  FinalizeBlockRequest,
  FinalizeBlockResponse,
  InitChainResponse,
  ValidatorUpdate,
} from '../../src/abci/types.ts'
import { tables } from '../../src/modules/registry.ts'
import type { StateReader } from '../../src/store/state.ts'
import type { Table } from '../../src/store/table.ts'
import { Broken } from '../support/campaign.ts'
import type { TestChain } from '../support/testChain.ts'
import type { BlockResult, DecidedBlock, Model } from './protocol/block.ts'
import { queryDelegations, queryDelegator, queryStake } from './protocol/queries.ts'
import { type Event, messageOfRow, numberParam, rowsOf, type State } from './protocol/state.ts'
import type { Result } from './protocol/transaction.ts'
import { maxAgeOf } from './protocol/validatorSet.ts'
import { decode } from './protocol/wire.ts'

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')

/** Throws Broken unless both texts are equal. A text of the model that ends with `: ` only begins the other. */
function same(what: string, application: unknown, model: unknown): void {
  const [real, expected] = [application, model].map((one) => JSON.stringify(one))
  if (real !== expected) throw new Broken(`${what}: the application has ${real}, the model ${expected}`)
}

const eventsOf = (events: readonly AbciEvent[] = []): unknown =>
  events.map(({ type, attributes = [] }) => [
    type,
    attributes.map(({ key, value, index }) => (index === true ? [key, value] : [key, value, 'no index'])),
  ])

const entriesOf = (events: readonly Event[]): unknown =>
  events.map(([type, attributes]) => [type, Object.entries(attributes)])

/** A log of which the model knows only the beginning is cut to it. */
const logLike = (log: string, expected: string): string =>
  expected.endsWith(': ') && log.startsWith(expected) ? expected : log

/** `isCheck`: of CheckTx, which has no events. */
export function compareResult(what: string, real: ExecTxResult, expected: Result, isCheck = false): void {
  const { code = 0, log = '', info = '', data, gasWanted = 0, gasUsed = 0, events } = real
  same(
    what,
    [code, logLike(log, expected.log), info, hex(data), gasWanted, gasUsed],
    [expected.code, expected.log, expected.info, expected.data, expected.gas, expected.gas],
  )
  if (!isCheck) same(`${what}: events`, eventsOf(events), entriesOf(expected.events))
}

const updatesOf = (updates: readonly ValidatorUpdate[] = []): unknown =>
  updates.map(({ pubKey, power }) => [hex(pubKey.ed25519), power])

/** InitChain's answer: the validator set by the rules, whatever genesis lists. */
export function compareGenesis({ validators, consensusParams }: InitChainResponse, { state }: Model): void {
  same(
    'genesis: validators',
    updatesOf([...(validators ?? [])].sort((a, b) => (hex(a.pubKey.ed25519) < hex(b.pubKey.ed25519) ? -1 : 1))),
    state.validatorSet.map(({ pubKey, power }) => [pubKey, power]),
  )
  const maxAge = maxAgeOf(numberParam(state, 'unstake_wait_period', 0))
  same('genesis: max_age_num_blocks', consensusParams?.evidence?.maxAgeNumBlocks, maxAge)
}

export function compareBlock(real: FinalizeBlockResponse, expected: BlockResult): void {
  const { txResults = [], events, validatorUpdates, consensusParamUpdates } = real
  same('transactions', txResults.length, expected.results.length)
  for (const [place, result] of txResults.entries())
    compareResult(`transaction ${place}`, result, expected.results[place] as Result)
  same('events', eventsOf(events), entriesOf(expected.events))
  same('validator updates', updatesOf(validatorUpdates), expected.updates)
  same('max_age_num_blocks', consensusParamUpdates?.evidence?.maxAgeNumBlocks, expected.maxAge)
}

const hashedTables: readonly Table[] = tables.filter(({ hashed }) => hashed)

/** Every hashed row of a store: its bytes by its key, in hex. */
const rowsOfStore = (store: StateReader): Map<string, string> =>
  new Map(
    hashedTables.flatMap((table) =>
      [...store.scan(table)].map((row) => [hex(table.keyOf(row)), hex(table.encode(row))]),
    ),
  )

const show = (key: string, row: string | undefined): unknown =>
  row === undefined ? 'no row' : decode(messageOfRow(key), Buffer.from(row, 'hex'))

export function compareRows(store: StateReader, state: State): void {
  const [real, expected] = [rowsOfStore(store), rowsOf(state)]
  for (const key of new Set([...real.keys(), ...expected.keys()])) {
    const [one, other] = [real.get(key), expected.get(key)]
    if (one !== other) same(`row ${key} (${messageOfRow(key)})`, show(key, one), show(key, other))
  }
}

/** The answers about delegations, to and of the accounts that send. */
export function compareQueries(chain: TestChain, state: State, accounts: readonly string[]): void {
  for (const address of accounts)
    for (const [name, expected] of [
      ['delegator', queryDelegator(state, address)],
      ['delegations', queryDelegations(state, address)],
      ['stake', queryStake(state, address)],
    ] as const)
      same(`/stake/${name}/${address}`, chain.query(`/stake/${name}/${address}`), expected)
}

const ABSENT = 1

/** What the model needs of a block. */
export const decidedOf = ({ time, txs, decidedLastCommit, misbehavior }: FinalizeBlockRequest): DecidedBlock => ({
  timeMs: time.seconds * 1000 + Math.floor(time.nanos / 1_000_000),
  txs,
  votes: decidedLastCommit.votes.map(({ validator, blockIdFlag }) => ({
    address: `0x${hex(validator.address)}`,
    power: validator.power,
    isAbsent: blockIdFlag === ABSENT,
  })),
  evidence: misbehavior.map(({ type, validator, height }) => ({
    address: `0x${hex(validator.address)}`,
    height,
    type,
  })),
})
