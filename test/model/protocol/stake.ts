import {
  type Call,
  charge,
  checkBytes,
  checkDescription,
  type Concerned,
  type Done,
  INVALID,
  need,
  needBalance,
  type Operation,
  Refused,
} from './operation.ts'
import {
  balanceOf,
  type Block,
  type Candidacy,
  candidacyById,
  isDeclared,
  isHeldBack,
  liveOf,
  NO_DELEGATIONS,
  paramOf,
  pay,
  recordOf,
  type State,
} from './state.ts'
import { base64, larger, parseAmount, parseRatio, portion, portionUp, sum, TOKEN } from './values.ts'
import { closePool, ownPart, setCompRate } from './delegation.ts'
import type { Message } from './wire.ts'

/** Operations on candidacies. Source: protocol.md §3, whose tables the rules follow line by line. */

const selfStake = (state: State, maxShares: bigint, { height, altered }: Block): bigint => {
  const ratio = parseRatio(paramOf(state, 'self_staking_ratio', height)) as bigint
  return altered === 'the self-stake rounds down' ? portion(maxShares, ratio) : portionUp(maxShares, ratio)
}

function checkCandidacy(message: Message): void {
  checkBytes(message, 'pubKey', 32)
  checkDescription(message)
  const { maxAmount, compRate } = message as { maxAmount?: string; compRate?: string }
  need(maxAmount === undefined || parseAmount(maxAmount) !== undefined, 20, INVALID)
  need(compRate === undefined || (parseRatio(compRate) ?? TOKEN + 1n) <= TOKEN, 20, INVALID)
}

/** A record of an address ends because another one takes its place. */
function replaceRecord(state: State, owner: string): void {
  const record = recordOf(state, owner)
  if (record === undefined) return
  state.candidacies = state.candidacies.filter((one) => one !== record)
  state.absences.delete(record.id)
}

const own = (account: string): Concerned => ({ account, validator: true })

const idsOf = (candidacy: Candidacy): Pick<Done, 'ids' | 'concerned'> => ({
  ids: { owner: candidacy.ownerAddress, pub_key: base64(candidacy.pubKey) },
  concerned: [own(candidacy.ownerAddress)],
})

/** A pubKey that is live or held back is refused. */
function needKey({ state, block, sender }: Call, pubKey: string): void {
  need(!isDeclared(state, pubKey), 1, 'pubkey has been declared')
  if (block.altered === 'no key is held back' || !isHeldBack(state, pubKey, sender)) return
  block.met.push('a key is held back')
  throw new Refused(1, 'pubkey has been declared')
}

function declare(call: Call): Done {
  const { state, block, sender, message } = call
  const { pubKey, maxAmount, compRate, description } = message as {
    pubKey: string
    maxAmount?: string
    compRate?: string
    description?: Record<string, string>
  }
  const maxShares = maxAmount === undefined ? state.chain.defaultMaxAmount : BigInt(maxAmount)
  const shares = selfStake(state, maxShares, block)
  needKey(call, pubKey)
  need(liveOf(state, sender) === undefined, 1, 'address has been declared')
  need(shares >= TOKEN, 20, 'Insufficient bond shares')
  charge(call, shares)

  replaceRecord(state, sender)
  pay(state, sender, -shares)
  const candidacy: Candidacy = {
    id: state.counters.nextCandidacyId++,
    pubKey,
    ownerAddress: sender,
    shares,
    maxShares,
    compRate: compRate === undefined ? state.chain.defaultCompRate : (parseRatio(compRate) as bigint),
    ...NO_DELEGATIONS,
    description: { ...description },
    verified: false,
    active: true,
    withdrawn: false,
    blockHeight: block.height,
    createdAt: block.time,
    updatedAt: block.time,
  }
  state.candidacies.push(candidacy)
  return idsOf(candidacy)
}

function update(call: Call): Done {
  const { state, block, sender, message } = call
  const { pubKey, maxAmount, compRate, description } = message as {
    pubKey?: string
    maxAmount?: string
    compRate?: string
    description?: Record<string, string>
  }
  const candidacy = liveOf(state, sender)
  need(candidacy !== undefined, 1, 'cannot edit non-exsits candidacy')
  if (pubKey !== undefined && pubKey !== candidacy.pubKey) needKey(call, pubKey)
  const missing =
    maxAmount === undefined ? 0n : larger(0n, selfStake(state, BigInt(maxAmount), block) - ownPart(candidacy))
  need(maxAmount === undefined || BigInt(maxAmount) >= candidacy.shares + missing, 20, INVALID)
  charge(call, missing)

  pay(state, sender, -missing)
  candidacy.shares += missing
  if (pubKey !== undefined) candidacy.pubKey = pubKey
  if (maxAmount !== undefined) candidacy.maxShares = BigInt(maxAmount)
  if (compRate !== undefined) setCompRate(state, block, candidacy, parseRatio(compRate) as bigint)
  if (description !== undefined) {
    candidacy.verified = false
    Object.assign(candidacy.description, description)
  }
  candidacy.updatedAt = block.time
  return idsOf(candidacy)
}

const pendingUpdate = (state: State, id: number) =>
  state.accountUpdates.find(({ candidacyId, status }) => candidacyId === id && status === 'PENDING')

function withdraw(call: Call): Done {
  const { state, block, sender } = call
  const candidacy = liveOf(state, sender)
  need(candidacy !== undefined, 1, 'cannot withdraw non-exsits candidacy')
  charge(call)

  state.unbondings.push({
    number: state.counters.nextUnbondingNumber++,
    candidacyId: candidacy.id,
    ownerAddress: sender,
    pubKey: candidacy.pubKey,
    amount: ownPart(candidacy),
    heightMade: block.height,
    heightPaid: block.height + Number(paramOf(state, 'unstake_wait_period', block.height)),
  })
  closePool(state, block, candidacy)
  Object.assign(candidacy, { withdrawn: true, active: false, shares: 0n, updatedAt: block.time })
  const pending = pendingUpdate(state, candidacy.id)
  if (pending !== undefined) pending.status = 'CANCELLED'
  state.absences.delete(candidacy.id)
  return idsOf(candidacy)
}

function deactivate(call: Call): Done {
  const { state, block, sender } = call
  const candidacy = liveOf(state, sender)
  need(candidacy !== undefined, 1, 'cannot deactivate non-exsits candidacy')
  need(candidacy.active, 1, 'already deactivated')
  charge(call)

  Object.assign(candidacy, { active: false, updatedAt: block.time })
  return idsOf(candidacy)
}

function activate(call: Call): Done {
  const { state, block, sender } = call
  const record = recordOf(state, sender)
  need(record !== undefined, 1, 'cannot activate non-exsits candidacy')
  need(!record.active, 1, 'already activated')
  if (record.withdrawn) {
    needKey(call, record.pubKey)
    const entries = state.unbondings.filter(({ candidacyId }) => candidacyId === record.id)
    const pending = sum(entries.map(({ amount }) => amount))
    const shares = larger(pending, selfStake(state, record.maxShares, block))
    need(shares >= TOKEN, 20, 'Insufficient bond shares')
    if (balanceOf(state, sender) < shares - pending)
      needBalance(state, sender, shares - pending + call.fee, call.fee, 'Insufficient bond shares')
    charge(call)

    state.unbondings = state.unbondings.filter(({ candidacyId }) => candidacyId !== record.id)
    pay(state, sender, pending - shares)
    Object.assign(record, { withdrawn: false, shares })
  } else charge(call)
  Object.assign(record, { active: true, updatedAt: block.time })
  return idsOf(record)
}

function updateAccount(call: Call): Done {
  const { state, sender, message } = call
  const to = `0x${message['newCandidateAccount']}`
  const candidacy = liveOf(state, sender)
  const isRefused = candidacy === undefined || /^0x0*$/.test(to) || to === sender || liveOf(state, to) !== undefined
  need(!isRefused, 21, 'Bad request')
  charge(call)

  const earlier = pendingUpdate(state, candidacy.id)
  if (earlier !== undefined) earlier.status = 'REPLACED'
  const id = state.counters.nextRequestId++
  state.accountUpdates.push({ id, candidacyId: candidacy.id, fromAddress: sender, toAddress: to, status: 'PENDING' })
  return {
    data: Buffer.from(String(id)).toString('hex'),
    ids: { owner: sender, request_id: String(id) },
    concerned: [own(sender), { account: to }],
  }
}

function acceptAccountUpdate(call: Call): Done {
  const { state, block, sender, message, fee } = call
  const request = state.accountUpdates.find(({ id }) => id === message['accountUpdateRequestId'])
  const isOpen = request?.status === 'PENDING' && request.toAddress === sender && liveOf(state, sender) === undefined
  need(isOpen, 21, 'Bad request')
  const candidacy = candidacyById(state, request.candidacyId)
  if (candidacy === undefined) throw new Error('a pending request is of a live candidacy')
  const price = ownPart(candidacy)
  needBalance(state, sender, price + fee, fee, 'Insufficient bond shares')
  charge(call, price)

  const before = candidacy.ownerAddress
  replaceRecord(state, sender)
  pay(state, sender, -price)
  pay(state, before, price)
  Object.assign(candidacy, { ownerAddress: sender, updatedAt: block.time })
  request.status = 'COMPLETED'
  const ids = { ...idsOf(candidacy).ids, request_id: String(request.id) }
  return { ids, concerned: [own(sender), own(before)] }
}

function verify(call: Call): Done {
  const { state, block, sender, message } = call
  need(sender === state.chain.foundationAddress, 3, 'Verification disallowed')
  const candidacy = liveOf(state, `0x${message['candidateAddress']}`)
  need(candidacy !== undefined, 5, 'unknown candidacy')
  charge(call)

  Object.assign(candidacy, { verified: message['verified'] === 'Y', updatedAt: block.time })
  return idsOf(candidacy)
}

function transfer(call: Call): Done {
  const { state, sender, message } = call
  const value = BigInt(message['value'] as string)
  const to = `0x${message['to']}`
  need(value > 0n, 20, INVALID)
  charge(call, value)

  pay(state, sender, -value)
  pay(state, to, value)
  return { ids: { to, value: String(value) }, concerned: [{ account: to }] }
}

export const stakeOperations: Readonly<Record<string, Operation>> = {
  transfer: {
    event: 'svc.accounts.transfer',
    gas: 21_000,
    check: (message) => {
      checkBytes(message, 'to', 20)
      need(parseAmount(message['value'] as string) !== undefined, 20, INVALID)
    },
    run: transfer,
  },
  declareCandidacy: {
    event: 'svc.stake.declare',
    gas: 'declare_candidacy',
    check: checkCandidacy,
    run: declare,
  },
  updateCandidacy: { event: 'svc.stake.update', gas: 'update_candidacy', check: checkCandidacy, run: update },
  withdrawCandidacy: { event: 'svc.stake.withdraw', gas: 0, run: withdraw },
  activateCandidacy: { event: 'svc.stake.activate', gas: 21_000, run: activate },
  deactivateCandidacy: { event: 'svc.stake.deactivate', gas: 21_000, run: deactivate },
  updateCandidacyAccount: {
    event: 'svc.stake.updateAccount',
    gas: 'update_candidacy',
    check: (message) => checkBytes(message, 'newCandidateAccount', 20),
    run: updateAccount,
  },
  acceptCandidacyAccountUpdate: {
    event: 'svc.stake.acceptAccountUpdate',
    gas: 'update_candidacy',
    run: acceptAccountUpdate,
  },
  verifyCandidacy: {
    event: 'svc.stake.verify',
    gas: 0,
    check: (message) => {
      checkBytes(message, 'candidateAddress', 20)
      need(/^[YN]$/.test(message['verified'] as string), 20, INVALID)
    },
    run: verify,
  },
}
