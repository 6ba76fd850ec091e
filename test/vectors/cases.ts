import { addressBytes } from '../../src/values/address.ts'
import { printPubKey, proposalIdOf, pubKeyOf } from '../../src/values/pubKey.ts'
import { accounts } from '../../src/modules/accounts/keeper.ts'
import { chain, counters, totals } from '../../src/modules/chain/keeper.ts'
import { proposals, votes } from '../../src/modules/governance/tables.ts'
import { params } from '../../src/modules/params/keeper.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { batches, claims, delegations } from '../../src/modules/delegation/tables.ts'
import {
  absences,
  accountUpdates,
  candidacies,
  misbehaviours,
  setMembers,
  unbondings,
  validatorKeys,
} from '../../src/modules/stake/tables.ts'
import type { RowOf, Table } from '../../src/store/table.ts'
import type { Field, Fields } from '../../src/tx/fields.ts'
import { account, nodeKey, tokens } from '../support/testChain.ts'
import { NO_POOL } from '../support/noPool.ts'

const of = (number: number): Uint8Array => addressBytes(account(number).address)
const key = pubKeyOf(nodeKey(1))
const id = proposalIdOf(new Uint8Array(32).fill(0xfb))
const description = {
  name: 'né',
  website: 'https://a.example',
  location: '',
  email: 'a@a.example',
  profile: 'x'.repeat(200),
}
const library = {
  name: 'lib',
  version: 'v1.2.3',
  fileUrl: '{"ubuntu":["https://a.example/l.so"]}',
  md5: `{"ubuntu":"${'0f'.repeat(16)}"}`,
}

type MessageCase = readonly [operation: string, message: Readonly<Record<string, unknown>>]

const OWN_CASES: readonly MessageCase[] = [
  ['transfer', { to: of(2), value: '1000000000000000000' }],
  ['declareCandidacy', { pubKey: nodeKey(1), description, maxAmount: tokens(10).toString(), compRate: '0.25' }],
  ['declareCandidacy', { pubKey: nodeKey(1) }],
  ['declareCandidacy', { pubKey: nodeKey(1), description: {}, maxAmount: '', compRate: '' }],
  ['updateCandidacy', { pubKey: nodeKey(2), description: { email: '' }, maxAmount: '0', compRate: '1' }],
  ['updateCandidacy', {}],
  ['withdrawCandidacy', {}],
  ['activateCandidacy', {}],
  ['deactivateCandidacy', {}],
  ['updateCandidacyAccount', { newCandidateAccount: of(3) }],
  ['acceptCandidacyAccountUpdate', { accountUpdateRequestId: 300 }],
  ['verifyCandidacy', { candidateAddress: of(4), verified: 'Y' }],
  [
    'proposeChangeParam',
    { name: 'max_vals', value: '7', reason: 'ünï', expireBlockHeight: 0, expireTimestamp: Number.MAX_SAFE_INTEGER },
  ],
  ['proposeChangeParam', { name: '', value: '' }],
  ['proposeDeployLibEni', { ...library, reason: '', deployBlockHeight: 128, deployTimestamp: 1 }],
  ['proposeRetireProgram', { preservedValidators: printPubKey(key), reason: 'r', retiredBlockHeight: 60480 }],
  ['proposeUpgradeProgram', { ...library, reason: 'r', upgradeBlockHeight: 2 ** 32 }],
  [
    'proposeTransferFund',
    { transferFrom: of(1), transferTo: of(2), amount: '5', reason: 'r', expireBlockHeight: 1, expireTimestamp: 2 },
  ],
  ['vote', { proposalId: new Uint8Array(32).fill(0xfb), answer: 'Y' }],
  ['delegate', { validatorAddress: of(1), amount: '1000000000000000000' }],
  ['withdraw', { validatorAddress: of(1), amount: '1' }],
  ['withdraw', { validatorAddress: of(1), completelyWithdraw: 'Y' }],
  ['withdraw', { validatorAddress: of(1), amount: '', completelyWithdraw: 'N' }],
]

const BY_TYPE: Readonly<Record<string, unknown>> = {
  address: of(2),
  amount: '5',
  pubKey: nodeKey(1),
  proposalId: new Uint8Array(32).fill(0xfb),
  uint: 7,
  ratio: '0.25',
  yesNo: 'Y',
  flag: true,
}
const filled = (fields: Fields): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, valueIn(one)]))
const valueIn = ({ type, fields }: Field<unknown>): unknown =>
  fields === undefined ? (BY_TYPE[type] ?? 'text') : filled(fields)

/** Operations that have no case of their own yet: one message each, by the types of its fields. */
export const UNSCRIPTED: readonly string[] = txEntries
  .map(({ operation }) => operation)
  .filter((operation) => !OWN_CASES.some(([name]) => name === operation))

/** Messages with fixed content: each operation with all members, and with as few as it takes. */
export const MESSAGES: readonly MessageCase[] = [
  ...OWN_CASES,
  ...txEntries
    .filter(({ operation }) => UNSCRIPTED.includes(operation))
    .map(({ operation, input }): MessageCase => [operation, filled(input)]),
]

type Case = readonly [table: Table, row: object]
const row = <K extends object, R extends K, I extends string>(of: Table<K, R, I>, one: NoInfer<R>): Case => [
  of as unknown as Table,
  one,
]

const owner = account(1).address
const open: RowOf<typeof proposals> = {
  id,
  type: 'transfer_fund',
  proposer: owner,
  candidacyId: 1,
  blockHeight: 2,
  place: 3,
  expireBlockHeight: 0,
  expireTimestamp: 1_700_000_060,
  createdAt: 1_700_000_002,
  result: '',
  resultMsg: '',
  resultBlockHeight: 0,
  resultAt: 0,
  pending: true,
  yesPower: 0,
  noPower: 0,
  totalPower: 0,
  reason: 'ünï',
  name: '',
  value: '',
  version: '',
  fileUrl: '',
  md5: '',
  retiredVersion: '',
  preservedValidators: '',
  transferFrom: owner,
  transferTo: account(2).address,
  amount: 5n,
  escrow: 5n,
  status: '',
}
const full: RowOf<typeof proposals> = {
  ...open,
  type: 'retire_program',
  expireBlockHeight: 40,
  expireTimestamp: 0,
  result: 'Rejected',
  resultMsg: 'No preserved validator is active',
  resultBlockHeight: 40,
  resultAt: 1_700_000_040,
  pending: false,
  yesPower: 7000,
  noPower: 1,
  totalPower: 10_000,
  ...library,
  value: 'v',
  retiredVersion: '1',
  preservedValidators: printPubKey(key),
  transferFrom: '',
  transferTo: '',
  amount: 0n,
  escrow: 0n,
  status: 'rejected',
}

/** Rows with fixed content: each hashed table, full and with default values. */
export const ROWS: readonly Case[] = [
  row(accounts, { address: owner, balance: 10n ** 36n, nonce: 300 }),
  row(accounts, { address: owner, balance: 0n, nonce: 1 }),
  row(candidacies, {
    id: 258,
    pubKey: key,
    ownerAddress: owner,
    shares: tokens(10),
    maxShares: tokens(100),
    compRate: 250_000_000_000_000_000n,
    ...description,
    verified: true,
    active: true,
    withdrawn: false,
    blockHeight: 7,
    createdAt: 1_700_000_007,
    updatedAt: 1_700_000_008,
    ...NO_POOL,
  }),
  row(candidacies, {
    id: Number.MAX_SAFE_INTEGER,
    pubKey: key,
    ownerAddress: owner,
    shares: 0n,
    maxShares: 0n,
    compRate: 0n,
    name: '',
    website: '',
    location: '',
    email: '',
    profile: '',
    verified: false,
    active: false,
    withdrawn: true,
    blockHeight: 0,
    createdAt: 0,
    updatedAt: 0,
    ...NO_POOL,
  }),
  row(validatorKeys, { pubKey: key, firstHeight: 3, candidacyId: 1, lastHeight: 0 }),
  row(setMembers, { pubKey: key, candidacyId: 1, power: 9_000_000_000_000_000, proven: true }),
  row(setMembers, { pubKey: key, candidacyId: 2, power: 1, proven: false }),
  row(absences, { candidacyId: 1, count: 119 }),
  row(unbondings, {
    number: 1,
    candidacyId: 2,
    ownerAddress: owner,
    pubKey: key,
    amount: 1n,
    heightMade: 9,
    heightPaid: 60_489,
  }),
  row(accountUpdates, { id: 1, candidacyId: 2, fromAddress: owner, toAddress: account(2).address, status: 'PENDING' }),
  row(misbehaviours, { candidacyId: 1, removedHeight: 26 }),
  row(proposals, open),
  row(proposals, full),
  row(votes, { proposalId: id, candidacyId: 1, voter: owner, answer: 'Y', blockHeight: 3 }),
  row(params, { name: 'self_staking_ratio', height: 0, value: '0.1' }),
  row(totals, { genesisSupply: tokens(10n ** 15n), minted: 1n, burned: 0n }),
  row(counters, { nextCandidacyId: 5, nextUnbondingNumber: 1, nextRequestId: 1, programVersion: 1 }),
  row(chain, {
    chainId: 'test-chain',
    initialHeight: 1,
    evidenceMaxBytes: 1_048_576,
    defaultMaxAmount: tokens(10_000),
    defaultCompRate: 500_000_000_000_000_000n,
    foundationAddress: '',
    maxAbsentBlocks: 120,
    slashRatio: 50_000_000_000_000_000n,
    lastHeight: 49,
    lastTimeMs: 1_700_000_049_123,
  }),
  row(candidacies, {
    id: 3,
    pubKey: key,
    ownerAddress: owner,
    shares: tokens(30),
    maxShares: tokens(100),
    compRate: 250_000_000_000_000_000n,
    ...description,
    verified: false,
    active: true,
    withdrawn: false,
    blockHeight: 7,
    createdAt: 1_700_000_007,
    updatedAt: 1_700_000_008,
    delegated: tokens(20),
    delegationUnits: tokens(19),
    pool: 2,
    delegators: 4,
    nextCompRate: 500_000_000_000_000_000n,
    nextCompRateHeight: 60_500,
  }),
  row(delegations, {
    candidacyId: 1,
    pool: 2,
    delegator: owner,
    units: 10n ** 36n,
    delegateAmount: tokens(5),
    withdrawAmount: 1n,
    createdAt: 1_700_000_007,
    updatedAt: 1_700_000_008,
  }),
  row(batches, {
    candidacyId: 1,
    number: 300,
    amount: tokens(2),
    units: tokens(3),
    heightMade: 945,
    heightPaid: 61_425,
    closed: true,
    pool: 3,
  }),
  row(batches, {
    candidacyId: 1,
    number: 1,
    amount: 1n,
    units: 1n,
    heightMade: 9,
    heightPaid: 9,
    closed: false,
    pool: 0,
  }),
  row(claims, { candidacyId: 1, number: 300, delegator: owner, units: 7n }),
]
