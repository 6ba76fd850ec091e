import { useEffect } from 'preact/hooks'
import { type Parameter, PARAMETERS } from '../../modules/params/definitions.ts'
import { linkTo } from '../route.ts'
import { type Proposal, proposalLink } from './proposals.ts'
import { type Candidate, cometAddressOf } from './validators.ts'
import { formatCount } from '../format.ts'
import { titleOf } from '../proposals/index.ts'
import { svc } from './gateway.ts'
import { refresh } from './questions.ts'
import { type Answer, useAnswer } from './useAnswer.ts'

export interface Hit {
  readonly kind: 'Block' | 'Transaction' | 'Account' | 'Validator' | 'Proposal' | 'Parameter' | 'Library'
  /** What a reader knows it by. A stranger may have written it. */
  readonly name: string
  readonly note?: string
  readonly to: string
  /** The text is its whole name, not a part of it. */
  readonly isExact?: boolean
}

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

const validatorHit = ({ owner_address: owner, description: { name } }: Candidate): Hit => ({
  kind: 'Validator',
  name: name.trim() === '' ? owner : name,
  note: owner,
  to: linkTo(['validators', owner]),
})

const proposalHit = (proposal: Proposal, kind: 'Proposal' | 'Library', name: string): Hit => ({
  kind,
  name,
  note: proposal.Result === '' ? 'open' : proposal.Result,
  to: proposalLink(proposal.Id),
})

async function ofHeight(text: string): Promise<readonly Hit[]> {
  const height = Number(text.replace(/[,_ ]/g, ''))
  const head = await svc.async.blockNumber()
  const hit: Hit = { kind: 'Block', name: formatCount(height), to: linkTo(['blocks', height]) }
  return [height > head ? { ...hit, note: 'not made yet' } : hit]
}

async function ofHash(digits: string): Promise<readonly Hit[]> {
  const hash = digits.toUpperCase()
  const [tx, block] = await Promise.all([svc.async.getTransaction(hash), svc.async.getBlock({ block: hash, limit: 1 })])
  return [
    ...(tx === null ? [] : [{ kind: 'Transaction', name: hash, to: linkTo(['transactions', hash]) } as const]),
    ...(block === null
      ? []
      : [{ kind: 'Block', name: formatCount(block.height), to: linkTo(['blocks', block.height]) } as const]),
  ]
}

/** An address is always one of an account, also of one that nobody has used; but it may be a validator's too. */
async function ofAddress(digits: string): Promise<readonly Hit[]> {
  const address = `0x${digits.toLowerCase()}`
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

async function ofKey(text: string): Promise<readonly Hit[]> {
  const key = `${text.replaceAll('-', '+').replaceAll('_', '/')}=`
  const [{ data: proposal }, validators] = await Promise.all([
    svc.async.governance.queryProposal(key),
    listValidators(),
  ])
  return [
    ...(proposal === null ? [] : [proposalHit(proposal, 'Proposal', key)]),
    ...validators.filter(({ pub_key: { value } }) => value === key).map(validatorHit),
  ]
}

async function ofNumber(digits: string): Promise<readonly Hit[]> {
  const number = Number(digits)
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
      .map((one) => ({ ...validatorHit(one), isExact: one.description.name.trim().toLowerCase() === words })),
    ...parametersOf(words),
    ...libraries
      .filter((one) => one.Type === 'deploy_libeni')
      .filter(({ Detail }) => has(Detail.name, words))
      .map((one) => ({
        ...proposalHit(one, 'Library', `${one.Detail.name} ${one.Detail.version}`),
        isExact: one.Detail.name.toLowerCase() === words,
      })),
  ].sort((a, b) => Number(b.isExact === true) - Number(a.isExact === true))
}

/** A height above 0: up to 15 digits, with separators between them. */
const HEIGHT = /^(?=.*[1-9])([0-9](?:[,_ ]*[0-9]){0,14})[,_ ]*$/

/** The hash of a block or a transaction. */
export const HASH = /^(?:0x)?([0-9a-f]{64})$/i

/** What a text can name, judged by its form alone. The part that the group captures is looked up. */
const FORMS: readonly (readonly [form: RegExp, find: (part: string) => Promise<readonly Hit[]>])[] = [
  [HEIGHT, ofHeight],
  [HASH, ofHash],
  // An account, or CometBFT's address of a validator.
  [/^(?:0x)?([0-9a-f]{40})$/i, ofAddress],
  // 32 bytes in base64, standard or URL-safe, with its padding or without: a proposal's id or a public key.
  [/^([A-Za-z0-9+/_-]{43})=?$/, ofKey],
  // The number of a proposal: `#12`, or `proposal 12`.
  [/^(?:#|proposal\s+#?)([1-9][0-9]{0,8})$/i, ofNumber],
]

/**
 * Everything that a text names. Its form decides first, beside whole names; a text that names nothing by its form is
 * looked for in names and words.
 */
export async function search(text: string): Promise<readonly Hit[]> {
  const trimmed = text.trim()
  const words = trimmed.toLowerCase()
  if (words === '') return []
  const named = FORMS.map(([form, find]) => {
    const part = form.exec(trimmed)?.[1]
    return part === undefined ? [] : find(part)
  })
  const hits = (await Promise.all(named)).flat()
  if (hits.length === 0) return ofWords(words)
  // A validator may be called `42`.
  return HEIGHT.test(trimmed) ? [...hits, ...(await ofWords(words)).filter(({ isExact }) => isExact === true)] : hits
}

/** What a text names; nothing is asked while it is empty. */
export function useSearch(text: string): Answer<readonly Hit[]> {
  const key = text === '' ? undefined : `search/${text}`
  const answer = useAnswer(key, () => search(text), 'onReturn')
  // The field asked while the text was typed, which may be long ago when the view of all results opens.
  useEffect(() => {
    if (key !== undefined) refresh(key)
  }, [key])
  return answer
}
