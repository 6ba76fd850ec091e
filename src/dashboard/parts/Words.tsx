import type { ComponentChildren } from 'preact'
import { proposalLink } from '../data/proposals.ts'
import { formatTokens, isWholeNumber } from '../format.ts'
import { linkTo } from '../route.ts'
import { capitalised, type Piece, plainText, type Words } from '../pieces.ts'
import { AccountLink, HeightLink, Short, Tokens, UserText } from './text.tsx'

type Thing = Exclude<Piece, string>

const shown: Readonly<Record<Thing['kind'], (value: string) => ComponentChildren>> = {
  account: (value) => <AccountLink address={value} />,
  validator: (value) => <Short text={value} to={linkTo(['validators', value])} />,
  tokens: (value) => <Tokens units={value} />,
  key: (value) => <Short text={value} />,
  proposal: (value) => <Short text={value} to={proposalLink(value)} />,
  request: (value) => <span class='number'>{value}</span>,
  parameter: (value) => (
    <a href={linkTo(['parameters', value])}>
      <UserText text={value} />
    </a>
  ),
  height: (value) => <HeightLink height={Number(value)} />,
  stranger: (value) => <UserText text={value} />,
}

/** Words about the chain as a sentence, with links to what they name. */
export const Sentence = ({ words }: { readonly words: Words }) => (
  <span class='sentence'>
    {capitalised(words).map((one, index) =>
      typeof one === 'string' ? one : <span key={index}>{shown[one.kind](one.value)}</span>,
    )}
  </span>
)

export const sentenceText = (words: Words): string =>
  plainText(capitalised(words), (units) => (isWholeNumber(units) ? formatTokens(units, 18) : units))
