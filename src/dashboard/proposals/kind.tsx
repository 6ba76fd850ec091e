import type { ComponentChildren, JSX } from 'preact'
import type { Proposal } from '../data/proposals.ts'
import type { FormParts } from '../forms/FormParts.ts'
import type { Facts } from '../wallet/facts.ts'

/** What the page says of a kind of proposal. With methods, not members, the page of one kind is also one of any. */
export interface KindPage<P extends Proposal = Proposal> {
  /** The kind in a word or two. */
  readonly title: string
  /** What such a proposal does, above its form. */
  readonly doc: string
  /** An approval is carried out at the point of the proposal, not at once. */
  readonly isDelayed?: true
  /** What of an approval cannot be taken back. */
  readonly warning?: string
  /** What it would do, without a full stop. Plain text: none of it can hold a stranger's prose. */
  sentence(detail: P['Detail']): string
  /** The same as a vote says it, in lower case and exactly: `sets max_vals from 4 to 7`. */
  effect(detail: P['Detail'], params: Facts['params']): string
  /** The columns of its row that are not called as its fields are. */
  readonly columns?: Readonly<Record<string, string>>
  /** What it would change, or changed. */
  Changes(props: { readonly proposal: P }): JSX.Element
  /** The form of its operation; a hook. */
  useForm(): FormParts
}

/** One side of a change: what stands there, and what it is called. */
export function Side({ name, children }: { readonly name: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
