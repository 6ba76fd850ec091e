import { type Command, Option } from 'commander'
import { type JsonSchema, type Members, readMembers } from '../tx/members.ts'
import { UserError } from './userError.ts'

/** One option of a member, or of a member inside a member: `--description-name` of `description.name`. */
export interface MemberOption {
  readonly flag: string
  readonly path: readonly string[]
  readonly doc: string
  readonly required: boolean
}

/** `pubKey` as `pub-key`. */
export const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()

/**
 * The options of an input's members, in order. They come from the members alone: a new operation has its options by
 * itself.
 */
export function memberOptions(members: Members): readonly MemberOption[] {
  return Object.entries(members).flatMap(([name, { schema, doc, optional }]): MemberOption[] => {
    const inner = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined
    if (inner === undefined) return [{ flag: `--${kebab(name)}`, path: [name], doc, required: !optional }]
    return Object.entries(inner).map(([part, { description }]) => ({
      flag: `--${kebab(name)}-${kebab(part)}`,
      path: [name, part],
      doc: String(description),
      required: false,
    }))
  })
}

const optionOf = ({ flag, doc, required }: MemberOption): Option =>
  new Option(`${flag} <${flag.split('-').at(-1)}>`, required ? `${doc} (required)` : doc)

/** Adds an option for each member. */
export function addMemberOptions(command: Command, members: Members): void {
  for (const option of memberOptions(members)) command.addOption(optionOf(option))
}

/** The members that the flags give, as the JSON object that a gateway takes. */
export function givenMembers(
  members: Members,
  flags: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {}
  for (const option of memberOptions(members)) {
    const value = flags[optionOf(option).attributeName()]
    if (value === undefined) continue
    const [name = '', part] = option.path
    if (part === undefined) given[name] = value
    else given[name] = { ...(given[name] as object | undefined), [part]: value }
  }
  return given
}

/** Reads members as the chain does. Throws a UserError that names the option, for what no message can hold. */
export function readGiven(members: Members, given: unknown): Readonly<Record<string, unknown>> {
  try {
    return readMembers(members, given) as Readonly<Record<string, unknown>>
  } catch (error) {
    const { name, message } = error as Error
    if (name !== 'MemberError') throw error
    throw new UserError(message.replace(/^[A-Za-z0-9.]+/, (member) => `--${member.split('.').map(kebab).join('-')}`))
  }
}
