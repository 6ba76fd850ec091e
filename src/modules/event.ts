/** What the chain tells of: each event is declared once, and whoever emits, reads or shows it takes it from there. */

/** What the types of all events begin with. */
export const EVENT_PREFIX = 'svc.'

/** The module whose event it is: what stands behind the prefix. */
export const moduleOfEvent = (type: string): string => type.split('.')[1] ?? ''

/** The attributes of an event, in their order; all of them are indexed. */
export type Attributes = Readonly<Record<string, string>>

/** An event as protocol.md §9 names it. */
export interface ChainEvent {
  readonly type: string
  readonly attributes: Attributes
}

/** A declared event. `A` are its attributes; an operation's has `sender` in front of them. */
export interface EventEntry<A = Attributes> {
  readonly type: string
  /** One sentence for the docs. */
  readonly doc: string
  /** Names of the attributes that it always has, and of those that it may have. */
  readonly attributes: readonly string[]
  readonly optional: readonly string[]
  /** Builds the event. A method, so that TypeScript accepts an entry with its own attributes where any entry is expected. */
  of(attributes: A): ChainEvent
}

/** The attributes of a declared event. */
export type AttributesOf<E> = E extends EventEntry<infer A> ? A : never

interface Declaration<A extends string, O extends string> {
  readonly type: string
  readonly attributes: readonly A[]
  readonly optional?: readonly O[]
  readonly doc: string
}

/** Declares an event. */
export const defineEvent = <const A extends string, const O extends string = never>({
  optional = [],
  ...declaration
}: Declaration<A, O>): EventEntry<{ readonly [N in A]: string } & { readonly [N in O]?: string }> => ({
  ...declaration,
  optional,
  of: (attributes) => ({ type: declaration.type, attributes }),
})
