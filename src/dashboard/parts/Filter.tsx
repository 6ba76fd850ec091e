import { useEffect, useRef, useState } from 'preact/hooks'
import { setOptions, useRoute } from '../route.ts'

/** A browser refuses more than some changes of the address in a short time, so it changes when typing rests. */
const REST_MS = 200

/** A field whose text stands in the address as the option `name`. */
export function TextFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const asked = useRoute().options.get(name) ?? ''
  const [text, setText] = useState(asked)
  const written = useRef(asked)
  useEffect(() => {
    // Somebody else changed the address: a link, or a step in the browser's history.
    if (asked !== written.current) setText(asked)
    written.current = asked
  }, [asked])
  useEffect(() => {
    if (text === written.current) return
    const timer = setTimeout(() => {
      written.current = text
      setOptions({ [name]: text })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      class='text-filter'
      type='search'
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  )
}

/** A choice that the address keeps as the option `name`, unless it is the first one. Changing it shows the first page again. */
export function ChoiceList({
  name,
  label,
  choices,
}: {
  readonly name: string
  readonly label: string
  readonly choices: readonly { readonly value: string; readonly title: string }[]
}) {
  return (
    <select
      class='choice-list'
      aria-label={label}
      value={useRoute().options.get(name) ?? ''}
      onChange={({ currentTarget }) => setOptions({ [name]: currentTarget.value, before: undefined })}
    >
      {choices.map(({ value, title }) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  )
}

/** One of a few, which stands in the address as the option `name`; the first one when it is left out. */
export function ChoiceFilter({
  name,
  label,
  choices,
}: {
  readonly name: string
  readonly label: string
  readonly choices: readonly { readonly value: string; readonly title: string; readonly count?: number | undefined }[]
}) {
  const asked = useRoute().options.get(name) ?? choices[0]?.value
  return (
    <fieldset class='choice-filter'>
      <legend class='visually-hidden'>{label}</legend>
      {choices.map(({ value, title, count }, index) => (
        <button
          key={value}
          type='button'
          aria-pressed={value === asked}
          onClick={() => setOptions({ [name]: index === 0 ? undefined : value })}
        >
          {title}
          {count === undefined ? null : <span class='number soft'> {count.toLocaleString('en')}</span>}
        </button>
      ))}
    </fieldset>
  )
}
