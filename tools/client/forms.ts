import { txEntries } from '../../src/modules/registry.ts'
import type { Fields } from '../../src/tx/fields.ts'
import { upper } from '../names.ts'
import { importsOf } from './tables.ts'

const DECLARATIONS = `/** What a field holds: the name of its value type, or \`object\` where it has fields of its own. */
export type FieldKind = keyof typeof fieldTypes | 'object'

/** A field of an operation, and what the chain refuses in it. */
export interface FormField extends InputLimits {
  readonly name: string
  readonly kind: FieldKind
  readonly doc: string
  readonly optional: boolean
  /** Those of an object. */
  readonly fields?: readonly FormField[]
}

/** An operation as a form needs it. */
export interface OperationForm {
  /** The client's function: \`stake.validator.declare\`. */
  readonly call: string
  readonly doc: string
  readonly fields: readonly FormField[]
}
`

const formFields = (fields: Fields): readonly object[] =>
  Object.entries(fields).map(([name, { type, doc, optional, limits, fields: inner }]) => ({
    name,
    kind: type,
    doc,
    optional,
    ...limits,
    ...(inner === undefined ? {} : { fields: formFields(inner) }),
  }))

/** The names of the value types in fields, those of inner fields too. */
export const typesOf = (fields: Fields): readonly string[] =>
  Object.values(fields).flatMap(({ type, fields: inner }) => (inner === undefined ? [type] : typesOf(inner)))

/**
 * The source of src/client/gen/forms.ts: every operation with the limits of its fields, for programs that let people
 * type them. The client itself does not import it.
 */
export function formsSource(): string {
  const forms = txEntries.map(
    ({ operation, call, doc, input }) => `  ${operation}: ${JSON.stringify({ call, doc, fields: formFields(input) })},`,
  )
  const types = [...new Set(txEntries.flatMap(({ input }) => typesOf(input)))]
  const inputs = txEntries.map(({ operation }) => `${upper(operation)}Input`)
  return [
    '/* Written by tools/gen-client.ts: change the registry, not this file. */',
    ...importsOf(types),
    "import type { InputLimits } from '../../values/valueType.ts'",
    `import type { ${inputs.join(', ')} } from './calls.ts'\n`,
    `/** The value types that fields have, by their names. */\nexport const fieldTypes = { ${types.join(', ')} } as const\n`,
    DECLARATIONS,
    '/** What each operation is given. */',
    'export interface OperationInputs {',
    ...txEntries.map(({ operation }) => `  readonly ${operation}: ${upper(operation)}Input`),
    '}\n',
    '/** The type of the event of each operation. */',
    'export interface OperationEvents {',
    ...txEntries.map(({ operation, event }) => `  readonly ${operation}: '${event.type}'`),
    '}\n',
    '/** The operation whose event it is, by the type of the event. */',
    'export const operationEvents: Readonly<Record<string, OperationName>> = {',
    ...txEntries.map(({ operation, event }) => `  '${event.type}': '${operation}',`),
    '}\n',
    '/** The name of an operation. */',
    'export type OperationName = keyof OperationInputs\n',
    '/** Every operation, by its name. */',
    `export const forms: Readonly<Record<OperationName, OperationForm>> = {\n${forms.join('\n')}\n}\n`,
  ].join('\n')
}
