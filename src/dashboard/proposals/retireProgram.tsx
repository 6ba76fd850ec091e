import type { ProposalOf } from '../data/proposals.ts'
import { useCandidates } from '../data/validators.ts'
import { formatCount } from '../format.ts'
import type { CustomField } from '../forms/FormParts.ts'
import { dueAt, type OperationPage, textOf, proposalOf } from '../operations/operation.ts'
import { Facts } from '../parts/layout.tsx'
import { Names } from '../parts/Names.tsx'
import { Shown } from '../parts/notes.tsx'
import { UserText } from '../parts/text.tsx'
import { ValidatorName } from '../parts/ValidatorLink.tsx'
import type { KindPage } from './kind.tsx'

/** The keys that a proposal to retire the program would preserve. */
const preservedKeys = (list: string): readonly string[] => list.split(',').filter(Boolean)

/** How many validators a list of keys names: `1 validator`. */
function validatorsIn(list: string): string {
  const count = preservedKeys(list).length
  return count === 1 ? '1 validator' : `${formatCount(count)} validators`
}

const RETIRE_STATUS: Readonly<Record<string, string>> = {
  init: 'Not retired. If it is approved, every node stops after the block in which it is carried out.',
  success: 'Retired: every node stopped, and a newer program went on with the chain.',
  rejected: 'Not retired.',
}

function Changes({ proposal }: { readonly proposal: ProposalOf<'retire_program'> }) {
  const { Detail: detail, Result: result } = proposal
  const candidates = useCandidates()
  const keys = new Set(preservedKeys(detail.preserved_validators))
  return (
    <Shown answer={candidates}>
      {(all) => {
        const kept = all.filter(({ pub_key: { value } }) => keys.has(value))
        const known = new Set(kept.map(({ pub_key: { value } }) => value))
        const gone = all.filter(({ active, pub_key: { value } }) => active === 'Y' && !keys.has(value))
        const unknown = [...keys].filter((key) => !known.has(key))
        return (
          <Facts
            facts={{
              'Program version': detail.retired_version,
              [`Preserved (${formatCount(keys.size)})`]: (
                <>
                  <Names owners={kept.map((one) => one.owner_address)} />
                  {unknown.map((key) => (
                    <div key={key}>
                      <UserText text={key} /> <span class='soft'>has no candidacy now</span>
                    </div>
                  ))}
                </>
              ),
              // Afterwards the list would name those who came later.
              [`Would be deactivated (${formatCount(gone.length)})`]:
                result === '' ? (
                  gone.length === 0 ? (
                    'Nobody'
                  ) : (
                    <Names owners={gone.map((one) => one.owner_address)} />
                  )
                ) : undefined,
              Status: RETIRE_STATUS[detail.status] ?? detail.status,
            }}
          />
        )
      }}
    </Shown>
  )
}

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
                      <ValidatorName owner={owner} />
                    </label>
                    <span class='number soft'>power {formatCount(power)}</span>
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

const WARNING =
  'If it is approved, every node stops for good at the block or time that you choose, and the chain goes on only ' +
  'with a newer program. ' +
  'Validators that are not preserved are deactivated.'

export const retireProgram: KindPage<ProposalOf<'retire_program'>> = {
  title: 'Retirement',
  doc: 'Ends this version of the program: every node stops at the block or time named, and whoever is not preserved is deactivated.',
  isDelayed: true,
  warning: WARNING,
  sentence: ({ retired_version: version, preserved_validators: list }) =>
    `Retire program ${version} and keep ${validatorsIn(list)}`,
  effect: ({ preserved_validators: list }) => `retires the program and preserves ${validatorsIn(list)}`,
  Changes,
  useForm: () => ({
    operation: 'proposeRetireProgram',
    custom: { preservedValidators: (field) => <PreservedField field={field} /> },
  }),
}

export const proposeRetireProgram: OperationPage<'proposeRetireProgram'> = {
  title: 'Propose to retire',
  words: (message) => [
    `propose to retire the program and to keep ${validatorsIn(textOf(message, 'preservedValidators'))}`,
  ],
  happened: (of) => ['proposed to retire the program: ', proposalOf(of)],
  sentence: ({ preservedValidators: list }) =>
    `Propose to retire the program, preserve ${validatorsIn(list)} and deactivate all others.`,
  due: ({ retiredBlockHeight: height }, facts) => dueAt('Carried out', [height], facts),
  warning: () => WARNING,
  fields: {
    preservedValidators: {
      label: 'Preserved validators',
      hint: 'public keys with commas between them; all other validators are deactivated',
    },
    reason: { label: 'Reason' },
    retiredBlockHeight: { label: 'Retires at block' },
  },
}
