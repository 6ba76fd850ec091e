import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { VerifiedRow } from '../../client/index.ts'
import { sentenceOf } from '../data/errors.ts'
import { createStore, useStore } from '../data/store.ts'
import { useGatewayInfo } from '../data/useAnswer.ts'
import { HeightLink } from './text.tsx'

/** Whether rows are shown with their proof: as long as the page is open, never longer. */
const isVerifying = createStore(false)

/** Lets the reader have rows proven, where the gateway leads to a light client. */
export function VerifySwitch() {
  const isOn = useStore(isVerifying)
  if (!useGatewayInfo().light) return null
  return (
    <label
      class='switch'
      title='Proofs are checked in this browser, against headers that the light client of this gateway has verified'
    >
      <input type='checkbox' checked={isOn} onChange={({ currentTarget }) => isVerifying.set(currentTarget.checked)} />{' '}
      Verify rows
    </label>
  )
}

type Outcome = { readonly row: VerifiedRow } | { readonly error: Error } | undefined

/** What a row that is not there, or a member that it leaves out, stands for. */
const EMPTY: readonly string[] = ['', '0']

/** The members of a proven row that are not what the page shows. */
const differing = ({ data }: VerifiedRow, expect: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(expect)
    .map(([name, shown]) => ({ name, shown, held: data?.[name] }))
    .filter(({ shown, held }) => (held === undefined ? !EMPTY.includes(shown) : String(held) !== shown))
    .map(({ name, held }) => `${name} ${String(held ?? 'is absent')}`)

/** A block may change a row between the page's question and the proof: so long it is given to catch up, in ms. */
const CATCH_UP_MS = 2_000

/**
 * Beside a row, while the reader wants that: that it is proven, and at which block, or why not. `call` asks one of
 * `svc.verified`; `expect` is what the page shows of the row, by its members there (`balance`, `owner_address`). When
 * that changes, it is proven anew. What changes with every block is no part of `expect`: `told` shows it as it was
 * proven.
 */
export function Verified({
  call,
  expect,
  told,
}: {
  readonly call: () => Promise<VerifiedRow>
  readonly expect: Readonly<Record<string, string>>
  readonly told?: (row: Readonly<Record<string, unknown>>) => ComponentChildren
}) {
  const isOn = useStore(isVerifying)
  const [outcome, setOutcome] = useState<Outcome>()
  const shown = JSON.stringify(expect)
  useEffect(() => {
    if (!isOn) return
    let isOver = false
    const prove = async (): Promise<void> => {
      let row = await call()
      if (differing(row, expect).length > 0) {
        await new Promise((done) => setTimeout(done, CATCH_UP_MS))
        if (!isOver) row = await call()
      }
      if (!isOver) setOutcome({ row })
    }
    setOutcome(undefined)
    prove().catch((error: unknown) => isOver || setOutcome({ error: error as Error }))
    return () => void (isOver = true)
  }, [isOn, shown])
  if (!isOn) return null
  if (outcome === undefined) return <p class='proof'>Proving this row …</p>
  if ('error' in outcome) return <p class='proof bad'>{sentenceOf(outcome.error)}</p>
  const { height, data } = outcome.row
  const others = differing(outcome.row, expect)
  if (others.length === 0)
    return (
      <p class='proof good'>
        Proven at block <HeightLink height={height} /> by the light client
        {data === null || told === undefined ? null : <>, with {told(data)}</>}.
      </p>
    )
  return (
    <p class='proof bad'>
      What is proven at block <HeightLink height={height} /> is another value: {others.join(', ')}.
    </p>
  )
}
