import { pascalCase } from '../../base/pascalCase.ts'
import type { JsonSchema } from '../../values/valueType.ts'

type Titler = (schema: JsonSchema, name: string, parent: string) => JsonSchema

/** The name of one of the schemas of which a value has any: `Null` for all that may be null. */
const variantName = ({ type = 'choice' }: JsonSchema, title: string): string =>
  type === 'null' ? 'Null' : `${title}_${String(type)}`

/** What a schema says of values: all but what it says to people. */
const contentOf = (schema: JsonSchema): string =>
  JSON.stringify(schema, (key, value) => (key === 'description' && typeof value === 'string' ? undefined : value))

/**
 * Returns a function that gives a schema and each one in it a title, and an enumeration its type: generators of code
 * name a type by its title, and take schemas of one title for one type. The title is the schema's own, else `name` in
 * PascalCase; `parent` goes in front where another schema has that title. `reserved`: titles that no schema gets. Equal
 * calls in equal order give equal titles.
 */
export function createTitler(reserved: readonly string[]): Titler {
  const contents = new Map(reserved.map((title) => [title, '']))
  const choose = (wanted: string, parent: string, content: string): string => {
    for (let count = 0; ; count++) {
      const title = count === 0 ? wanted : `${parent}${wanted}${count === 1 ? '' : count}`
      const held = contents.get(title)
      if (held !== undefined && held !== content) continue
      contents.set(title, content)
      return title
    }
  }
  const titled: Titler = (schema, name, parent) => {
    const { title: own = pascalCase(name), properties, items, anyOf, enum: values } = schema
    const title = choose(String(own), parent, contentOf(schema))
    const named = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>)
    return {
      ...(values === undefined ? {} : { type: typeof (values as readonly unknown[])[0] }),
      ...schema,
      title,
      ...(properties === undefined
        ? {}
        : { properties: Object.fromEntries(named.map(([key, one]) => [key, titled(one, key, title)])) }),
      ...(items === undefined ? {} : { items: titled(items as JsonSchema, `${title}Item`, title) }),
      ...(anyOf === undefined
        ? {}
        : { anyOf: (anyOf as readonly JsonSchema[]).map((one) => titled(one, variantName(one, title), title)) }),
    }
  }
  return titled
}
