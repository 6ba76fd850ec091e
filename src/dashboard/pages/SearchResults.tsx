import { useEffect } from 'preact/hooks'
import type { ViewProps } from '../app.tsx'
import { HASH, type Hit, useSearch } from '../data/search.ts'
import { formatCount } from '../format.ts'
import { Section, View } from '../parts/layout.tsx'
import { Shown } from '../parts/notes.tsx'
import { UserText } from '../parts/text.tsx'
import { linkTo } from '../route.ts'

const HEADINGS: Readonly<Record<Hit['kind'], string>> = {
  Block: 'Blocks',
  Transaction: 'Transactions',
  Account: 'Accounts',
  Validator: 'Validators',
  Proposal: 'Proposals',
  Parameter: 'Parameters',
  Library: 'Libraries',
}

const HITS_MAX = 20

const Kind = ({ title, hits }: { readonly title: string; readonly hits: readonly Hit[] }) => (
  <Section
    title={title}
    aside={hits.length > HITS_MAX ? `${HITS_MAX} of ${formatCount(hits.length)}: a longer text finds fewer` : undefined}
  >
    <ul class='events hits'>
      {hits.slice(0, HITS_MAX).map(({ name, note, to }) => (
        <li key={to}>
          <a href={to}>
            <UserText text={name} />
          </a>{' '}
          {note !== undefined && <span class='soft'>{note}</span>}
        </li>
      ))}
    </ul>
  </Section>
)

function Nothing({ text }: { readonly text: string }) {
  const hash = HASH.exec(text)?.[1]?.toUpperCase()
  return (
    <>
      {text !== '' && (
        <p>
          Nothing on this chain is named <UserText text={text} />.{' '}
          {hash !== undefined && (
            <>
              If it is the hash of a transaction that was just sent,{' '}
              <a href={linkTo(['transactions', hash])}>watch for it</a>.
            </>
          )}
        </p>
      )}
      <Section title='What can be searched'>
        <ul class='bullets'>
          <li>a block by its height or its hash</li>
          <li>a transaction by its hash</li>
          <li>an account by its address</li>
          <li>
            a validator by a part of its name or website, its owner, its public key, or CometBFT’s address of that key
          </li>
          <li>a proposal by its number, such as #12, or its id</li>
          <li>a parameter by a part of its name or by words of what it means</li>
          <li>a proposed library by a part of its name</li>
        </ul>
      </Section>
    </>
  )
}

function Found({ text, hits }: { readonly text: string; readonly hits: readonly Hit[] }) {
  const exact = hits.filter(({ isExact }) => isExact === true)
  // What the form of the text names is as good as a whole name.
  const meant = exact.length > 0 && hits.every(({ isExact }) => isExact !== undefined) ? exact : hits
  const only = meant.length === 1 ? meant[0] : undefined
  useEffect(() => {
    // In the place of this view: the way back leads to where the reader searched.
    if (only !== undefined) location.replace(only.to)
  }, [only?.to])
  if (hits.length === 0) return <Nothing text={text} />
  return (
    <>
      {(Object.keys(HEADINGS) as Hit['kind'][]).map((kind) => {
        const own = hits.filter((hit) => hit.kind === kind)
        return own.length === 0 ? null : <Kind key={kind} title={HEADINGS[kind]} hits={own} />
      })}
    </>
  )
}

/** What a text names. A reader goes straight to the only thing that it names, or whose whole name it is. */
export function SearchResults({ path: [given = ''] }: ViewProps) {
  const text = given.trim()
  const answer = useSearch(text)
  return (
    <View
      title={`Search: ${text.slice(0, 60)}`}
      name={
        <>
          Search: <UserText text={text} />
        </>
      }
    >
      {text === '' ? <Nothing text='' /> : <Shown answer={answer}>{(hits) => <Found text={text} hits={hits} />}</Shown>}
    </View>
  )
}
