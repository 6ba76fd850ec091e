import { formatCount } from '../format.ts'
import { type OperationPage, textOf } from './operation.ts'

/** The keys that a proposal to retire the program would preserve. */
export const preservedKeys = (list: string): readonly string[] => list.split(',').filter(Boolean)

/** How many validators a list of keys names: `1 validator`. */
export function validatorsIn(list: string): string {
  const count = preservedKeys(list).length
  return count === 1 ? '1 validator' : `${formatCount(count)} validators`
}

/** Proposes to retire the program. */
export const proposeRetireProgram: OperationPage<'proposeRetireProgram'> = {
  title: 'Propose to retire',
  words: (message) => {
    const count = textOf(message, 'preservedValidators').split(',').length
    return [`propose to retire the program and to keep ${count === 1 ? 'one validator' : `${count} validators`}`]
  },
  sentence: ({ preservedValidators: list }) =>
    `Propose to retire the program, preserve ${validatorsIn(list)} and deactivate all others.`,
  fields: {
    preservedValidators: {
      label: 'Preserved validators',
      hint: 'public keys with commas between them; all other validators are deactivated',
    },
    reason: { label: 'Reason' },
    retiredBlockHeight: { label: 'Retires at block' },
  },
}
