import { preservedKeys } from '../../../operations/proposeRetireProgram.ts'
import { useCandidates } from '../../../data/validators.ts'
import { type CustomField, OperationForm } from '../../../forms/OperationForm.tsx'
import { formatCount } from '../../../format.ts'
import { Shown } from '../../../parts/notes.tsx'
import { ValidatorName } from '../../../parts/ValidatorLink.tsx'
import type { KindProps } from '../New.tsx'
import { Fee } from './Fee.tsx'

/** Who is preserved: ticked in a list of those who are active. */
function PreservedField({ field }: { readonly field: CustomField }) {
  const answer = useCandidates()
  const kept = new Set(preservedKeys(field.value))
  return (
    <fieldset class='preserved'>
      <legend>Preserved validators</legend>
      <Shown answer={answer}>
        {(all) => {
          const active = all.filter((one) => one.active === 'Y')
          const set = (keys: Iterable<string>): void => field.onInput([...keys].join(','))
          const tick = (key: string, isKept: boolean): void =>
            set(isKept ? [...kept, key] : [...kept].filter((one) => one !== key))
          return (
            <>
              <div class='actions'>
                <button type='button' class='quiet' onClick={() => set(active.map((one) => one.pub_key.value))}>
                  All
                </button>
                <button type='button' class='quiet' onClick={() => set([])}>
                  None
                </button>
              </div>
              <ul>
                {active.map(({ owner_address: owner, pub_key: { value: key }, voting_power: power }) => (
                  <li key={key}>
                    <label>
                      <input
                        type='checkbox'
                        checked={kept.has(key)}
                        onChange={({ currentTarget: { checked } }) => tick(key, checked)}
                      />{' '}
                      <ValidatorName owner={owner} candidates={all} />
                    </label>
                    <span class='number soft'>{formatCount(power)}</span>
                  </li>
                ))}
              </ul>
              <p class='hint'>
                {formatCount(kept.size)} preserved, {formatCount(active.length - kept.size)} deactivated
              </p>
            </>
          )
        }}
      </Shown>
      <p class='field-error' aria-live='polite'>
        {field.error}
      </p>
    </fieldset>
  )
}

/** Proposes to retire the program: the validators to preserve are ticked. */
export function RetirementForm({ onDone }: KindProps) {
  return (
    <OperationForm
      operation='proposeRetireProgram'
      submit='Propose'
      note={<Fee operation='proposeRetireProgram' />}
      custom={{ preservedValidators: (field) => <PreservedField field={field} /> }}
      onDone={onDone}
    />
  )
}
