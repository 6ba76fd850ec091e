import { DEFAULT_PARAMS, canonicalParam } from './params.ts'
import { accountOf, type Block, type Candidacy, NO_DELEGATIONS, type State } from './state.ts'
import { genesisMembers, noteKeys } from './validatorSet.ts'
import { parseAmount, parseAddress, parseRatio, sum, TOKEN } from './values.ts'

/** What InitChain hands over, as JSON has it. */
export interface Genesis {
  readonly chainId: string
  readonly evidenceMaxBytes: number
  readonly appState: {
    readonly accounts: readonly { readonly address: string; readonly balance: string }[]
    readonly params?: Readonly<Record<string, unknown>>
    readonly stake?: Readonly<Record<string, unknown>>
    readonly candidacies: readonly {
      readonly owner: string
      readonly pub_key: string
      readonly shares: string
      readonly max_shares: string
      readonly comp_rate?: string
      readonly description?: Readonly<Record<string, string>>
      readonly delegations?: readonly { readonly delegator: string; readonly amount: string }[]
    }[]
  }
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the model is given valid genesis documents only')
  return value
}

/** The state above which the first block stands, which has the time of genesis here. Source: protocol.md §4, InitChain. */
export function createState({ chainId, evidenceMaxBytes, appState }: Genesis, first: Block): State {
  const { accounts, params = {}, stake = {}, candidacies } = appState
  const { time, timeMs, height: initialHeight } = first
  const constant = (name: string, otherwise: unknown): string => String(stake[name] ?? otherwise)
  const defaultCompRate = need(parseRatio(constant('default_comp_rate', '0.5')))
  const state: State = {
    accounts: new Map(),
    candidacies: candidacies.map((one, at) => ({
      id: at + 1,
      pubKey: Buffer.from(one.pub_key, 'base64').toString('hex'),
      ownerAddress: need(parseAddress(one.owner)),
      shares: need(parseAmount(one.shares)),
      maxShares: need(parseAmount(one.max_shares)),
      compRate: one.comp_rate === undefined ? defaultCompRate : need(parseRatio(one.comp_rate)),
      ...NO_DELEGATIONS,
      description: { ...one.description },
      verified: false,
      active: true,
      withdrawn: false,
      blockHeight: 0,
      createdAt: time,
      updatedAt: time,
    })),
    validatorKeys: [],
    validatorSet: [],
    absences: new Map(),
    unbondings: [],
    delegations: [],
    batches: [],
    claims: [],
    accountUpdates: [],
    misbehaviours: new Map(),
    proposals: [],
    votes: [],
    params: Object.entries(DEFAULT_PARAMS).map(([name, value]) => ({
      name,
      height: 0,
      value: need(canonicalParam(name, String(params[name] ?? value), 1)),
    })),
    totals: { genesisSupply: 0n, minted: 0n, burned: 0n },
    counters: {
      nextCandidacyId: candidacies.length + 1,
      nextUnbondingNumber: 1,
      nextRequestId: 1,
      programVersion: 1,
    },
    chain: {
      chainId,
      initialHeight,
      evidenceMaxBytes,
      defaultMaxAmount: need(parseAmount(constant('default_max_amount', 10_000n * TOKEN))),
      defaultCompRate,
      foundationAddress: constant('foundation_address', '').toLowerCase(),
      maxAbsentBlocks: Number(constant('max_absent_blocks', 120)),
      slashRatio: need(parseRatio(constant('slash_ratio', '0.05'))),
      lastHeight: initialHeight - 1,
      lastTimeMs: timeMs,
    },
  }
  for (const [at, { delegations = [] }] of candidacies.entries()) {
    const amounts = delegations.map(({ amount }) => need(parseAmount(amount)))
    const delegated = sum(amounts)
    Object.assign(state.candidacies[at] as Candidacy, {
      delegated,
      delegationUnits: delegated,
      delegators: delegations.length,
    })
    for (const [index, { delegator }] of delegations.entries())
      state.delegations.push({
        candidacyId: at + 1,
        pool: 0,
        delegator: need(parseAddress(delegator)),
        units: amounts[index] as bigint,
        delegateAmount: amounts[index] as bigint,
        withdrawAmount: 0n,
        createdAt: time,
        updatedAt: time,
      })
  }
  for (const { address, balance } of accounts)
    accountOf(state, need(parseAddress(address))).balance = need(parseAmount(balance))
  state.totals.genesisSupply =
    sum([...state.accounts.values()].map(({ balance }) => balance)) + sum(state.candidacies.map(({ shares }) => shares))
  // The keys of InitChain's answer are proven from the start.
  state.validatorSet = genesisMembers(state, first)
  noteKeys(state, [], initialHeight)
  return state
}
