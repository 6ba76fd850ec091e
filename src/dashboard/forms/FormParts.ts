import type { ComponentChildren } from 'preact'
import type { OperationName } from '../../client/gen/forms.ts'
import type { Typing } from './check.ts'
import type { FieldProps } from './fields.tsx'

/** What the form passes to a field that has an input of its own. */
export interface CustomField extends FieldProps {
  readonly typing: Typing
  /** What is wrong, by the names of the fields, as far as it is to be told. */
  readonly errors: Readonly<Record<string, string>>
  /** Changes other fields too. Their errors are told from then on, or with `isTold` false when the form is sent. */
  readonly change: (changed: Typing, isTold?: boolean) => void
}

/** An operation, and where its form differs from the default. */
export interface FormParts {
  readonly operation: OperationName
  /** What it begins with. Amounts are in tokens, and fields inside others are named `description.name`. */
  readonly initial?: Typing
  /** Fields that are typed in a way of their own, or, with null, together with another one. */
  readonly custom?: Readonly<Record<string, ((field: CustomField) => ComponentChildren) | null>>
  /** What is wrong beyond the rules of the single fields. */
  readonly check?: (typing: Typing) => Readonly<Record<string, string>>
}
