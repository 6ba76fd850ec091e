import { type Parameter, PARAMETERS } from '../../modules/params/definitions.ts'
import type { QueryProposalsResult, QueryValidatorsResult } from '../../client/index.ts'
import { linkTo } from '../route.ts'
import { isOfType, proposalLink } from './proposals.ts'
import { formatCount } from '../format.ts'
import { titleOf } from '../proposals/index.ts'
import { cometAddressOf } from './cometAddress.ts'
import { svc } from './gateway.ts'

/** What a search finds. */
export interface Hit {
  readonly kind: 'Block' | 'Transaction' | 'Account' | 'Validator' | 'Proposal' | 'Parameter' | 'Library'
  /** What a reader knows it by. A stranger may have written it. */
  readonly name: string
  readonly note?: string
  readonly to: string
  /** The text is its whole name, not a part of it. */
  readonly isExact?: boolean
}

/** What a text may name, by its form alone. */
export interface ParsedSearch {
  readonly height?: number
  /** 64 upper-case hex digits: a block or a transaction. */
  readonly hash?: string
  /** 0x and 40 lower-case hex digits: an account, or CometBFT's address of a validator. */
  readonly address?: string
  /** Base64 of 32 bytes: a proposal's id or a public key. */
  readonly key?: string
  /** The number of a proposal: `#12`, or `proposal 12`. */
  readonly number?: number
  /** In lower case: a name, a part of one, or words of what a parameter means. */
  readonly words: string
}

/** 32 bytes in base64, standard or URL-safe, with its padding or without. */
const KEY = /^[A-Za-z0-9+/_-]{43}=?$/

/** What a text may name. */
export function parseSearch(text: string): ParsedSearch {
  const trimmed = text.trim()
  const [, digits = ''] = /^(?:0x)?([0-9a-f]+)$/i.exec(trimmed) ?? []
  const height = Number(trimmed.replace(/[,_ ]/g, ''))
  const [, number] = /^(?:#|proposal\s+#?)([1-9][0-9]{0,8})$/i.exec(trimmed) ?? []
  return {
    ...(Number.isSafeInteger(height) && height > 0 && /^[0-9][0-9,_ ]*$/.test(trimmed) ? { height } : {}),
    ...(digits.length === 64 ? { hash: digits.toUpperCase() } : {}),
    ...(digits.length === 40 ? { address: `0x${digits.toLowerCase()}` } : {}),
    ...(KEY.test(trimmed) ? { key: `${trimmed.slice(0, 43).replaceAll('-', '+').replaceAll('_', '/')}=` } : {}),
    ...(number === undefined ? {} : { number: Number(number) }),
    words: trimmed.toLowerCase(),
  }
}

type Validator = QueryValidatorsResult['data'][number]
type Proposal = QueryProposalsResult['data'][number]

/** How long a list that searches read is good for, in ms: a reader types several texts in a row. */
const LIST_MS = 10_000

/** Asks at most once in LIST_MS. */
function keptList<T>(ask: () => Promise<T>): () => Promise<T> {
  let kept: { readonly untilMs: number; readonly list: Promise<T> } | undefined
  return () => {
    if (kept === undefined || performance.now() > kept.untilMs) {
      const list = ask()
      kept = { untilMs: performance.now() + LIST_MS, list }
      list.catch(() => (kept = undefined))
    }
    return kept.list
  }
}

const listValidators = keptList(async () => (await svc.async.stake.validator.list()).data)
const listLibraries = keptList(
  async () => (await svc.async.governance.listProposals({ type: 'deploy_libeni', newest: true, limit: 1000 })).data,
)

/** Orders hits whose whole name the text is before those of which it is a part. */
const exactFirst = (a: Hit, b: Hit): number => Number(b.isExact === true) - Number(a.isExact === true)

const validatorHit = ({ owner_address: owner, description: { name } }: Validator): Hit => ({
  kind: 'Validator',
  name: name === '' ? owner : name,
  note: owner,
  to: linkTo(['validators', owner]),
})

const proposalHit = (proposal: Proposal, kind: 'Proposal' | 'Library', name: string): Hit => ({
  kind,
  name,
  note: proposal.Result === '' ? 'open' : proposal.Result,
  to: proposalLink(proposal.Id),
})

async function blockAt(height: number): Promise<readonly Hit[]> {
  const head = await svc.async.blockNumber()
  const hit: Hit = { kind: 'Block', name: formatCount(height), to: linkTo(['blocks', height]) }
  return [height > head ? { ...hit, note: 'not made yet' } : hit]
}

async function ofHash(hash: string): Promise<readonly Hit[]> {
  const [tx, block] = await Promise.all([svc.async.getTransaction(hash), svc.async.getBlock({ block: hash, limit: 1 })])
  return [
    ...(tx === null ? [] : [{ kind: 'Transaction', name: hash, to: linkTo(['transactions', hash]) } as const]),
    ...(block === null
      ? []
      : [{ kind: 'Block', name: formatCount(block.height), to: linkTo(['blocks', block.height]) } as const]),
  ]
}

/** An address is always one of an account, also of one that nobody has used; but it may be a validator's too. */
async function ofAddress(address: string): Promise<readonly Hit[]> {
  const [validators, balance, nonce] = await Promise.all([
    listValidators(),
    svc.async.getBalance(address),
    svc.async.getTransactionCount(address),
  ])
  const meant = validators.filter(
    ({ owner_address: owner, pub_key: key }) => owner === address || cometAddressOf(key.value) === address,
  )
  const isUsed = balance !== '0' || nonce > 0
  const account: Hit = { kind: 'Account', name: address, to: linkTo(['accounts', address]) }
  return [
    ...(isUsed || meant.length === 0 ? [isUsed ? account : { ...account, note: 'not used yet' }] : []),
    ...meant.map(validatorHit),
  ]
}

async function ofKey(key: string): Promise<readonly Hit[]> {
  const [{ data: proposal }, validators] = await Promise.all([
    svc.async.governance.queryProposal(key),
    listValidators(),
  ])
  return [
    ...(proposal === null ? [] : [proposalHit(proposal, 'Proposal', key)]),
    ...validators.filter(({ pub_key: { value } }) => value === key).map(validatorHit),
  ]
}

async function ofNumber(number: number): Promise<readonly Hit[]> {
  const { data } = await svc.async.governance.listProposals({ limit: 1, offset: number - 1 })
  return data.map((one) => proposalHit(one, 'Proposal', `#${formatCount(number)} ${titleOf(one)}`))
}

const has = (text: string, words: string): boolean => text.toLowerCase().includes(words)

/** Parameters by a part of their name, and behind those the ones whose name and meaning have all of the words. */
function parametersOf(words: string): readonly Hit[] {
  const all = words.split(/\s+/)
  const isNamed = ({ name }: Parameter): boolean => has(name, words.replaceAll(' ', '_'))
  return [...PARAMETERS.values()]
    .filter((one) => isNamed(one) || all.every((word) => has(`${one.name} ${one.doc}`, word)))
    .sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
    .map(({ name, doc }) => ({
      kind: 'Parameter',
      name,
      note: doc,
      to: linkTo(['parameters', name]),
      isExact: name === words.replaceAll(' ', '_'),
    }))
}

/** Everything whose name has a text in it, whole names first. */
async function ofWords(words: string): Promise<readonly Hit[]> {
  const [validators, libraries] = await Promise.all([listValidators(), listLibraries()])
  return [
    ...validators
      .filter(
        ({ owner_address: owner, description: { name, website } }) =>
          has(name, words) || has(website, words) || (words.length > 5 && has(owner, words)),
      )
      .map((one) => ({ ...validatorHit(one), isExact: one.description.name.trim().toLowerCase() === words }))
      .sort(exactFirst),
    ...parametersOf(words),
    ...libraries
      .filter(isOfType('deploy_libeni'))
      .filter(({ Detail }) => has(Detail.name, words))
      .map((one) => ({
        ...proposalHit(one, 'Library', `${one.Detail.name} ${one.Detail.version}`),
        isExact: one.Detail.name.toLowerCase() === words,
      }))
      .sort(exactFirst),
  ].sort(exactFirst)
}

/**
 * Everything that a text names. Its form decides first, beside whole names; a text that names nothing by its form is
 * looked for in names and words.
 */
export async function search(text: string): Promise<readonly Hit[]> {
  const { height, hash, address, key, number, words } = parseSearch(text)
  if (words === '') return []
  const named = await Promise.all([
    height === undefined ? [] : blockAt(height),
    hash === undefined ? [] : ofHash(hash),
    address === undefined ? [] : ofAddress(address),
    key === undefined ? [] : ofKey(key),
    number === undefined ? [] : ofNumber(number),
  ])
  const hits = named.flat()
  if (hits.length === 0) return ofWords(words)
  // A validator may be called `42`.
  return height === undefined ? hits : [...hits, ...(await ofWords(words)).filter(({ isExact }) => isExact === true)]
}
