import { type Node, type Source, walk } from './source.ts'
import type { Gate } from './textGates.ts'

const inModules = (path: string): boolean => path.startsWith('src/modules/')
const inBlockPath = (path: string): boolean => /^src\/(?:modules|store|app)\//.test(path)
const isTest = (path: string): boolean => /^test\/.*\.ts$/.test(path)

/** The lines of all nodes that `is` accepts. */
function nodesLike(is: (node: Node, parent: Node | undefined) => boolean): (source: Source) => number[] {
  return (source) => {
    const lines: number[] = []
    walk(source.body, (node, parent) => {
      // A member of an object literal has no span of its own, its key has.
      if (is(node, parent)) lines.push(source.lineOf(node.span === undefined ? (node['key'] as Node) : node))
    })
    return lines
  }
}

const textOf = (node: unknown): unknown => (node as { value?: unknown } | undefined)?.value

/** `name` for `name(…)`, `name.member(…)` for a call of a member; undefined for any other callee. */
function calleeOf(node: Node): string | undefined {
  if (node.type !== 'CallExpression') return undefined
  const callee = node['callee'] as Node
  if (callee.type === 'Identifier') return textOf(callee) as string
  if (callee.type !== 'MemberExpression') return undefined
  const object = callee['object'] as Node
  const name = object.type === 'Identifier' ? textOf(object) : calleeOf(object)
  return `${name as string}.${textOf(callee['property']) as string}`
}

const isText = (node: Node | undefined): boolean => node?.type === 'StringLiteral' || node?.type === 'TemplateLiteral'
const firstArgument = (node: Node): Node | undefined => (node['arguments'] as { expression: Node }[])[0]?.expression

const EXACT_MATH = new Set(['min', 'max', 'abs', 'trunc', 'floor', 'ceil', 'sign', 'clz32'])

function isInexactMath(node: Node, parent: Node | undefined): boolean {
  if (node.type !== 'Identifier' || textOf(node) !== 'Math') return false
  const property = parent?.type === 'MemberExpression' ? (parent['property'] as Node) : undefined
  return property?.type !== 'Identifier' || !EXACT_MATH.has(textOf(property) as string)
}

const FILE_FUNCTION =
  /^(?:(?:read|write|append|copy)File(?:Sync)?|createReadStream|(?:exists|open|mkdir|rm|l?stat|readdir|rename)Sync)$/

function isRelativeFile(node: Node): boolean {
  const name = calleeOf(node)?.replace(/^.*\./, '')
  if (name === undefined || !FILE_FUNCTION.test(name)) return false
  const path = firstArgument(node)
  return path?.type === 'StringLiteral' && !(textOf(path) as string).startsWith('/')
}

const EXPORTS = new Set([
  'ExportDeclaration',
  'TsExportAssignment',
  'ExportDefaultDeclaration',
  'ExportDefaultExpression',
])

/** Exports whose text is not led by a docstring; of overloads only the first must have one. */
function undocumented(source: Source): number[] {
  const seen = new Set<unknown>()
  return source.body
    .filter((node) => {
      if (!EXPORTS.has(node.type)) return false
      const declaration = node['declaration'] as Node | undefined
      const name = textOf(declaration?.['identifier'])
      if (name !== undefined && seen.has(name)) return false
      seen.add(name)
      return !/(?:^|\n)[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/$/.test(source.before(node).trimEnd())
    })
    .map(source.lineOf)
}

/** Tests left out: `.only` always, `.skip` and its kin unless the line above says `// skip: <reason>`. */
function unexplainedSkips(source: Source): number[] {
  const lines: number[] = []
  walk(source.body, (node) => {
    const isMember = node.type === 'MemberExpression' && /^(?:test|it|describe)$/.test(String(textOf(node['object'])))
    const name = isMember ? String(textOf(node['property'])) : (calleeOf(node) ?? '')
    const line = source.lineOf(node)
    const explained = /^\s*\/\/ skip: \S.{8}/.test(source.lines[line - 2] ?? '')
    if ((isMember && name === 'only') || /^f(?:it|describe)$/.test(name)) lines.push(line)
    else if (((isMember && /^(?:skip|todo)$/.test(name)) || /^x(?:it|test|describe)$/.test(name)) && !explained)
      lines.push(line)
  })
  return lines
}

const isKeeper = (path: string): boolean => /^src\/modules\/[^/]+\/keeper\.ts$/.test(path)

/** Calls of `put` and `remove`, which only a State has in the state machine. */
function isTableWrite(node: Node): boolean {
  const callee = node.type === 'CallExpression' ? (node['callee'] as Node) : undefined
  return callee?.type === 'MemberExpression' && /^(?:put|remove)$/.test(String(textOf(callee['property'])))
}

/** Imports of another module's files other than its keeper and types, and the lists that are written. Source: CONTRIBUTING.md, Layout. */
function foreignImports(source: Source): number[] {
  const own = /^src\/modules\/([^/]+)\//.exec(source.path)?.[1]
  if (own === undefined) return []
  return source.body
    .filter((node) => {
      const target = textOf(node['source'])
      if (typeof target !== 'string' || node['typeOnly'] === true) return false
      const path = new URL(target, `file:///${source.path}`).pathname
      const other = /^\/src\/modules\/([^/]+)\/(.*)$/.exec(path)
      return (
        other !== null &&
        other[1] !== own &&
        other[1] !== 'gen' &&
        !['keeper.ts', 'types.ts'].includes(other[2] as string)
      )
    })
    .map(source.lineOf)
}

/** The gates that need the syntax tree. */
export const syntaxGates: readonly Gate[] = [
  {
    name: 'forIn',
    message: 'for…in walks a plain object: its order is not the order of insertion',
    reads: inBlockPath,
    refused: nodesLike((node) => node.type === 'ForInStatement'),
  },
  {
    name: 'moduleLet',
    message: 'a variable of a module outlives the block and is not under the app hash',
    reads: inModules,
    refused: (source) =>
      source.body
        .map((node) => (node['declaration'] ?? node) as Node)
        .filter((node) => node.type === 'VariableDeclaration' && node['kind'] !== 'const')
        .map(source.lineOf),
  },
  {
    name: 'async',
    message: 'the state machine is synchronous',
    reads: inModules,
    refused: nodesLike((node) => node['async'] === true),
  },
  {
    name: 'inexactMath',
    message: 'only exact functions of Math in the state machine',
    reads: inModules,
    refused: nodesLike(isInexactMath),
  },
  {
    name: 'logOutsideCatalogue',
    message: 'codes and logs stand in errors.ts only (CONTRIBUTING.md, Style)',
    reads: (path) => inModules(path) && !path.endsWith('/errors.ts'),
    refused: nodesLike(
      (node) => node.type === 'KeyValueProperty' && textOf(node['key']) === 'log' && isText(node['value'] as Node),
    ),
  },
  {
    name: 'foreignImport',
    message: 'of another module only its keeper and types (CONTRIBUTING.md, Layout)',
    reads: inModules,
    refused: foreignImports,
  },
  {
    name: 'tableWrite',
    message: "a module's keeper.ts alone writes its tables (CONTRIBUTING.md, Layout)",
    reads: (path) => inModules(path) && !isKeeper(path),
    refused: nodesLike(isTableWrite),
  },
  {
    name: 'docstring',
    message: 'every export of src and tools has a docstring, except those of the page, which nothing else imports',
    reads: (path) => /^(?:src(?!\/dashboard\/)|tools)\/.*\.tsx?$/.test(path),
    refused: undocumented,
  },
  {
    name: 'skipReason',
    message: 'no .only; a .skip has "// skip: <reason>" on the line above',
    reads: isTest,
    refused: unexplainedSkips,
  },
  {
    name: 'workingFolder',
    message: 'a relative path depends on where the program was started',
    reads: (path) => /^(?:src|tools)\//.test(path),
    refused: nodesLike(isRelativeFile),
  },
]
