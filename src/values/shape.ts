import type { JsonSchema } from './valueType.ts'

/** How something that the chain answers is written as JSON: a value of a type, or what is made of such values. */
export interface Shape<T> {
  readonly schema: JsonSchema
  toJson(value: T): unknown
}

/** The value that a shape is the shape of. */
export type ShapeValue<S> = S extends Shape<infer T> ? T : never

/** A member that may be left out. */
export interface OptionalShape<T> extends Shape<T> {
  readonly isOptional: true
}

/** The members of a record by their names, in the order in which they are written. */
export type Members = Readonly<Record<string, Shape<never>>>

/** A record in memory. */
export type RecordOf<M extends Members> = {
  readonly [N in keyof M as M[N] extends OptionalShape<never> ? never : N]: ShapeValue<M[N]>
} & {
  readonly [N in keyof M as M[N] extends OptionalShape<never> ? N : never]?: ShapeValue<M[N]> | undefined
}

/** Marks a member that may be left out. */
export const maybe = <T>(shape: Shape<T>): OptionalShape<T> => ({
  schema: shape.schema,
  isOptional: true,
  toJson: (value) => shape.toJson(value),
})

/** JSON schema of an object whose members are all there, except for those of `optional`. */
export const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})

/** An object with members. Generated code has a type of the name `title` for it. */
export function record<const M extends Members>(title: string | undefined, members: M): Shape<RecordOf<M>> {
  const entries = Object.entries(members as Readonly<Record<string, Shape<unknown>>>)
  const optional = entries.filter(([, member]) => 'isOptional' in member).map(([name]) => name)
  const schema = objectSchema(Object.fromEntries(entries.map(([name, one]) => [name, one.schema])), optional)
  return {
    schema: title === undefined ? schema : { title, ...schema },
    toJson: (value) => {
      const json: Record<string, unknown> = {}
      for (const [name, member] of entries) {
        const one = (value as Readonly<Record<string, unknown>>)[name]
        if (one !== undefined || 'isNullable' in member) json[name] = member.toJson(one)
      }
      return json
    },
  }
}

/** A list. */
export const listOf = <T>(item: Shape<T>): Shape<readonly T[]> => ({
  schema: { type: 'array', items: item.schema },
  toJson: (values) => values.map((value) => item.toJson(value)),
})

/** A value, or null where there is none. A record writes such a member in any case. */
export const orNull = <T>(shape: Shape<T>) => ({
  schema: { anyOf: [shape.schema, { type: 'null' }] },
  isNullable: true,
  toJson: (value: T | undefined) => (value === undefined ? null : shape.toJson(value)),
})

/** One of several records: the text of their member `tag` tells which. */
export function variants<const K extends string, V extends Readonly<Record<string, Shape<never>>>>(
  title: string,
  tag: K,
  records: V,
): Shape<ShapeValue<V[keyof V]> & Readonly<Record<K, keyof V>>> {
  const shapes = records as Readonly<Record<string, Shape<unknown>>>
  return {
    schema: { title, anyOf: Object.values(shapes).map(({ schema }) => schema) },
    toJson: (value) => (shapes[value[tag] as string] as Shape<unknown>).toJson(value),
  }
}
