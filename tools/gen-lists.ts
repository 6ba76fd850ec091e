/**
 * Writes the lists that follow from the folders, so that nobody keeps them by hand: the operations that TxBody of
 * proto/svc/tx.proto names, the queries and the kinds of proposal of src/modules, and what the page says of each. Run by
 * tools/gen.ts. A member of TxBody without a file, or a file without its member, ends it with an error; what the page
 * lacks is an error of the compiler.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { camel } from './names.ts'

/** An exported constant, what it is listed by, and the file that has it. */
interface Declared {
  readonly name: string
  readonly key: string
  readonly path: string
}

/** What files declare in a line that `pattern` matches: the constant, and what it is listed by unless that is its name. */
function declaredIn(root: string, files: string, pattern: RegExp): readonly Declared[] {
  return globSync(files, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(pattern)].map(([, name = '', key = name]) => ({
        name,
        key,
        path,
      })),
    )
}

/** The operations in the order of the docs: the modules for which the chain is there come first, then the numbers count. */
function operationsOf(root: string): readonly Declared[] {
  const files = 'src/modules/*/{tx,proposals}/*.ts'
  const found = declaredIn(root, files, /^export const (\w+) = define(?:Tx|Proposal)\(/gm)
  const proto = readFileSync(join(root, 'proto/svc/tx.proto'), 'utf8')
  const members = [...proto.matchAll(/^ +svc\.(\w+)\.\w+ (\w+) = \d+;/gm)].map(([, module = '', name = '']) => ({
    module,
    name: camel(name),
  }))
  const unnamed = found.find(({ name }) => !members.some((member) => member.name === name))
  if (unnamed !== undefined)
    throw new Error(`${unnamed.path}: TxBody of proto/svc/tx.proto has no member for ${unnamed.name}`)
  const first = ['stake', 'governance']
  const inOrder = [...first, ...members.map(({ module }) => module).filter((module) => !first.includes(module))]
  return [...new Set(inOrder)].flatMap((module) =>
    members
      .filter((member) => member.module === module)
      .map(({ name }) => {
        const declared = found.find((one) => one.name === name && one.path.startsWith(`src/modules/${module}/`))
        if (declared === undefined)
          throw new Error(`proto/svc/tx.proto: no file of src/modules/${module} declares ${name}`)
        return declared
      }),
  )
}

/** The kinds of proposal, in the order in which an error names them: those of the interface, then the others by name. */
function kindsOf(root: string): readonly Declared[] {
  const pattern = /^export const (\w+): ProposalKind<'(\w+)'/gm
  const found = declaredIn(root, 'src/modules/governance/proposals/*.ts', pattern)
  const isFirst = ({ key }: Declared): boolean => key === 'transfer_fund' || key === 'change_param'
  const byName = (a: Declared, b: Declared): number => (a.key < b.key ? -1 : 1)
  return [
    ...found.filter(isFirst).toSorted((a, b) => byName(b, a)),
    ...found.filter((one) => !isFirst(one)).toSorted(byName),
  ]
}

interface List {
  readonly file: string
  readonly declared: readonly Declared[]
  /** Its lines below the imports. */
  readonly text: string
}

const members = (declared: readonly Declared[]): string =>
  declared.map(({ name, key }) => (name === key ? `  ${name},\n` : `  ${key}: ${name},\n`)).join('')

function listsOf(root: string): readonly List[] {
  const operations = operationsOf(root)
  const kinds = kindsOf(root)
  const queries = declaredIn(root, 'src/modules/*/queries/*.ts', /^export const (\w+) = define(?:List)?Query\(/gm)
  const pages = declaredIn(
    root,
    'src/dashboard/{operations,proposals}/*.{ts,tsx}',
    /^export const (\w+): OperationPage</gm,
  )
  const kindPages = declaredIn(
    root,
    'src/dashboard/proposals/*.tsx',
    /^export const (\w+): KindPage<ProposalOf<'(\w+)'>>/gm,
  )
  return [
    {
      file: 'src/modules/gen/operations.ts',
      declared: operations,
      text: `import type { TxEntry } from '../define.ts'

/** Every transaction type. */
export const txEntries: readonly TxEntry[] = [\n${members(operations)}]\n`,
    },
    {
      file: 'src/modules/gen/queries.ts',
      declared: queries,
      text: `import type { QueryEntry } from '../query.ts'

/** The queries that have files of their own. */
export const queries: readonly QueryEntry[] = [\n${members(queries)}]\n`,
    },
    {
      file: 'src/modules/gen/proposalTypes.ts',
      declared: [],
      text: `/** The kinds of proposal. */
export const PROPOSAL_TYPES = [${kinds.map(({ key }) => `'${key}'`).join(', ')}] as const\n`,
    },
    {
      file: 'src/modules/gen/proposalKinds.ts',
      declared: kinds,
      text: `import type { ProposalKind } from '../governance/proposals/proposal.ts'
import type { ProposalType } from '../governance/tables.ts'

/** Every kind of proposal by the Type that queries show. */
export const proposalKinds: Readonly<Record<ProposalType, ProposalKind>> = {\n${members(kinds)}}\n`,
    },
    {
      file: 'src/dashboard/operations/gen/pages.ts',
      declared: pages,
      text: `import type { OperationName } from '../../../client/gen/forms.ts'
import type { OperationPage } from '../operation.ts'

/** Every operation. The compiler demands what the page says of each. */
export const operationPages: { readonly [O in OperationName]: OperationPage<O> } = {\n${members(pages)}}\n`,
    },
    {
      file: 'src/dashboard/proposals/gen/pages.ts',
      declared: kindPages,
      text: `import type { ProposalOf, ProposalType } from '../../data/proposals.ts'
import type { KindPage } from '../kind.tsx'

/** Every kind of proposal. The compiler demands a file of each. */
export const kindPages: { readonly [T in ProposalType]: KindPage<ProposalOf<T>> } = {\n${members(kindPages)}}\n`,
    },
  ]
}

/** The files that the lists import; no other file needs to. */
export const listedFiles = (root: string): readonly string[] =>
  listsOf(root).flatMap(({ declared }) => declared.map(({ path }) => path))

/** Writes the lists into the project at `root`. Throws where TxBody and the files of operations differ. */
export function writeLists(root: string): void {
  for (const { file, declared, text } of listsOf(root)) {
    const imports = declared.map(
      ({ name, path }) => `import { ${name} } from '${posix.relative(posix.dirname(file), path)}'\n`,
    )
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), `/* Written by tools/gen-lists.ts. */\n${imports.join('')}${text}`)
  }
}
