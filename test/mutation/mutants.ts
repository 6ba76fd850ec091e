import { type Node, type Source, sourceOf } from '../../tools/tidy/source.ts'

/** One change of the source that a test should notice. */
export interface Mutant {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** The text of that line without the space around it. */
  readonly text: string
  /** For people, as `a < b → a <= b`. */
  readonly change: string
  /** What is replaced, as places in the text of the file. */
  readonly start: number
  readonly end: number
  /** The expression in its place; undefined for a statement that is dropped. */
  readonly replacement: string | undefined
}

const BINARY: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '&&': ['||'],
  '||': ['&&'],
}
const ASSIGNMENT: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '||=': '&&=', '&&=': '||=', '??=': '=' }
const FUNCTION: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  minOf: 'maxOf',
  maxOf: 'minOf',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}
/** Calls of these give way to what they are called on. */
const TAKEN_OUT = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice', 'subarray'])

/** Statements that are dropped; `return x` is not, as its condition becomes false instead. */
const DROPPED = new Set(['ExpressionStatement', 'ThrowStatement', 'BreakStatement', 'ContinueStatement'])

/** Nodes of types hold nothing that runs, but for these, which hold an expression. */
const isTypeOnly = ({ type }: Node): boolean =>
  /^(?:Ts|Import|ExportNamed|ExportAll)/.test(type) &&
  !/^Ts(?:As|Satisfies|NonNull)Expression$|^TsConstAssertion$|^TsInstantiation$/.test(type)

const member = (node: Node, name: string): Node => node[name] as Node
const nameOf = (node: Node | undefined): string =>
  node?.type === 'Identifier'
    ? String(node['value'])
    : node?.type === 'MemberExpression'
      ? nameOf(member(node, 'property'))
      : ''

type Replaced = readonly (string | undefined)[]

function replacedCall(node: Node, { textOf }: Source): Replaced {
  const callee = member(node, 'callee')
  const name = nameOf(callee)
  const text = textOf(node)
  // What stands in a chain of ?. cannot be replaced without its end.
  if (textOf(callee).includes('?.')) return []
  if (callee.type === 'MemberExpression' && TAKEN_OUT.has(name)) return [textOf(member(callee, 'object'))]
  const other = Object.hasOwn(FUNCTION, name) ? FUNCTION[name] : undefined
  const calleeText = textOf(callee)
  return other === undefined ? [] : [calleeText.slice(0, -name.length) + other + text.slice(calleeText.length)]
}

function replacedNumber(text: string): Replaced {
  const digits = text.replaceAll('_', '')
  if (!digits.endsWith('n')) return [String(Number(digits) + 1), String(Number(digits) - 1)]
  const value = BigInt(digits.slice(0, -1))
  return [`${value + 1n}n`, `${value - 1n}n`]
}

/** What may stand in the place of one node. `isProse`: it is text for people. */
function replacedNode(node: Node, source: Source, isProse: boolean): Replaced {
  const { textOf } = source
  const below = (name: string): string => textOf(member(node, name))
  switch (node.type) {
    case 'BinaryExpression':
      // `a ?? b && c` is no expression.
      if (node['operator'] === '??') return [`(${below('left')}) && ${below('right')}`]
      return (BINARY[String(node['operator'])] ?? []).map((other) => `${below('left')} ${other} ${below('right')}`)
    case 'AssignmentExpression': {
      const other = ASSIGNMENT[String(node['operator'])]
      return other === undefined ? [] : [`${below('left')} ${other} ${below('right')}`]
    }
    case 'UnaryExpression':
      return ['!', '-', '~'].includes(String(node['operator'])) ? [below('argument')] : []
    case 'UpdateExpression':
      return [textOf(node).replace(/\+\+|--/, (found) => (found === '++' ? '--' : '++'))]
    case 'BooleanLiteral':
      return [String(node['value'] !== true)]
    case 'NumericLiteral':
    case 'BigIntLiteral':
      return replacedNumber(textOf(node))
    case 'StringLiteral':
      return isProse ? [] : [node['value'] === '' ? "'mutant'" : "''"]
    case 'TemplateLiteral':
      return isProse ? [] : ["''"]
    case 'CallExpression':
      return replacedCall(node, source)
    case 'ReturnStatement':
      return (node['argument'] ?? undefined) === undefined ? [undefined] : []
    default:
      return DROPPED.has(node.type) ? [undefined] : []
  }
}

/** True when the text below is for people: messages of errors, and what documents are made of. */
function holdsProse(node: Node): boolean {
  if (node.type === 'StringLiteral') return /^(?:interface|protocol\.md)\b/.test(String(node['value']))
  if (node.type === 'NewExpression') return nameOf(member(node, 'callee')).endsWith('Error')
  if (node.type === 'CallExpression') return nameOf(member(node, 'callee')) === 'field'
  return node.type === 'KeyValueProperty' && /^(?:doc|unit|source)$/.test(nameOf(member(node, 'key')))
}

const SHOWN_LENGTH = 80
const AROUND_LENGTH = 30

/** One line for people; of a long text only what differs and a little around it. */
function changeOf(node: string, other: string | undefined): string {
  const [was, now] = [node, other ?? '(dropped)'].map((text) => text.replace(/\s+/g, ' ')) as [string, string]
  let same = 0
  while (same < was.length && was[same] === now[same]) same += 1
  let end = 0
  while (end < Math.min(was.length, now.length) - same && was.at(-1 - end) === now.at(-1 - end)) end += 1
  const cut = (text: string): string => {
    if (text.length <= SHOWN_LENGTH) return text
    const from = Math.max(0, same - AROUND_LENGTH)
    const to = Math.min(text.length - end + AROUND_LENGTH, from + 2 * SHOWN_LENGTH)
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
  }
  return `${cut(was)} → ${cut(now)}`
}

/** Every mutant of one file, in the order of the text. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const source = sourceOf(path, text)
  const found: Mutant[] = []
  const add = (node: Node, replaced: Replaced): void => {
    const start = source.before(node).length
    const was = source.textOf(node)
    const line = source.lineOf(node)
    for (const replacement of replaced)
      found.push({
        path,
        line,
        text: (source.lines[line - 1] ?? '').trim(),
        change: changeOf(was, replacement),
        start,
        end: start + was.length,
        replacement,
      })
  }
  const visit = (below: unknown, isProse: boolean): void => {
    if (Array.isArray(below)) for (const one of below) visit(one, isProse)
    if (Array.isArray(below) || typeof below !== 'object' || below === null) return
    const node = below as Node
    const isNode = typeof node.type === 'string'
    if (isNode && isTypeOnly(node)) return
    const isText = isProse || (isNode && holdsProse(node))
    if (isNode) add(node, replacedNode(node, source, isText))
    for (const [name, value] of Object.entries(node)) {
      const isKey = name === 'key' && (value as Node).type !== 'Computed'
      // A loop that never ends is found by waiting for it.
      const isStep = name === 'update' && node.type === 'ForStatement'
      if (name === 'span' || isKey || isStep) continue
      const isTest = name === 'test' && /^(?:If|Conditional)/.test(node.type)
      if (isTest) add(value as Node, ['true', 'false'])
      visit(value, isText)
    }
  }
  visit(source.body, false)
  return found
}

export function mutated(text: string, { start, end, replacement }: Mutant): string {
  const before = text.slice(0, start)
  // At the beginning of a line a parenthesis would call what stands before it.
  const inPlace = replacement !== undefined && !/\n[ \t]*$/.test(before) ? `(${replacement})` : replacement
  return `${before}${inPlace ?? '{}'}${text.slice(end)}`
}

/**
 * What tells a file which mutant runs, in SVCD_MUTANT. Without it all mutants are off, and those that are reached are
 * written to the file SVCD_REACHED at once, as a test may kill the process.
 */
const HEADER =
  "import { appendFileSync as $append } from 'node:fs';" +
  'const $m = (($one, $file, $seen) => $one !== undefined ? ($id) => $id === Number($one) : ($id) => {' +
  "if ($file !== undefined && !$seen.has($id)) { $seen.add($id); $append($file, $id + '\\n') } return false" +
  '})(process.env.SVCD_MUTANT, process.env.SVCD_REACHED, new Set());'

/** The text with all of its mutants in it, each behind a switch: `idOf` gives its number. */
export function switched(text: string, mutants: readonly Mutant[], idOf: (mutant: Mutant) => number): string {
  // What holds others comes first, and of a statement and its expression the statement.
  const rank = ({ replacement }: Mutant): number => (replacement === undefined ? 0 : 1)
  const ordered = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end || rank(a) - rank(b))
  const open: Mutant[] = []
  let out = ''
  let at = 0
  const closeUpTo = (place: number): void => {
    for (let last = open.at(-1); last !== undefined && last.end <= place; last = open.at(-1)) {
      out += text.slice(at, last.end) + (last.replacement === undefined ? '}' : ')')
      at = last.end
      open.pop()
    }
  }
  for (const mutant of ordered) {
    closeUpTo(mutant.start)
    const { start, replacement } = mutant
    const test = `$m(${idOf(mutant)})`
    out += text.slice(at, start) + (replacement === undefined ? `{if (!${test}) ` : `(${test} ? (${replacement}) : `)
    at = start
    open.push(mutant)
  }
  closeUpTo(text.length)
  return HEADER + out + text.slice(at)
}
