import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Module, parseSync } from '@swc/core'

/** One thing that a gate found. `line` counts from 1; 0 means the file or folder as a whole. */
export interface Finding {
  readonly gate: string
  readonly path: string
  readonly line: number
  readonly message: string
}

/** Any node of the syntax tree, read by its type's name. */
export interface Node {
  readonly type: string
  readonly span?: { readonly start: number; readonly end: number }
  readonly [member: string]: unknown
}

/** One file of the project. `path` is relative to the root and uses '/'. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  /** The syntax tree's statements; empty for files that are not TypeScript or JavaScript. */
  readonly body: readonly Node[]
  /** The line of a node, from 1. */
  readonly lineOf: (node: Node) => number
  /** The text from where the file starts to where the node does. */
  readonly before: (node: Node) => string
  /** The text of a node. */
  readonly textOf: (node: Node) => string
}

/** Visits `node` and everything below it, parents first. */
export function walk(node: unknown, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  if (Array.isArray(node)) for (const one of node) walk(one, visit, parent)
  else if (typeof node === 'object' && node !== null) {
    const isNode = typeof (node as { type?: unknown }).type === 'string'
    if (isNode) visit(node as Node, parent)
    for (const [name, below] of Object.entries(node))
      if (name !== 'span') walk(below, visit, isNode ? (node as Node) : parent)
  }
}

/** Reads and parses one file. Throws on a syntax error. */
export function sourceOf(path: string, text: string): Source {
  // swc counts bytes from 1, and goes on counting from one parse to the next: an empty parse tells where this one
  // starts.
  const base = parseSync('', { syntax: 'typescript' }).span.end
  const isCode = /\.(?:tsx?|js)$/.test(path)
  const tree = isCode
    ? parseSync(text, { syntax: 'typescript', tsx: path.endsWith('x'), target: 'es2024' })
    : ({ body: [] } as unknown as Module)
  const bytes = Buffer.from(text)
  const cut = (start: number, end = base): string =>
    bytes.subarray(Math.max(0, start - base), Math.max(0, end - base)).toString()
  const before = (node: Node): string => cut(base, node.span?.start)
  return {
    path,
    text,
    lines: text.split('\n'),
    body: tree.body as unknown as readonly Node[],
    before,
    textOf: ({ span }) => cut(span?.start ?? base, span?.end),
    lineOf: (node) => before(node).split('\n').length,
  }
}

const SKIPPED = new Set(['node_modules', 'gen', '.git', '.cache', 'coverage', 'dist', 'vectors'])
const READ = /\.(?:tsx?|js|proto|grit)$|(?:^|\/)(?:Makefile|Dockerfile|run|[^/]*\.(?:yml|template))$/

/**
 * Every file under `root` that people write, in the order of their paths; `skip` names folders to leave out, relative
 * to the root.
 */
export function readTree(root: string, skip: readonly string[] = []): Source[] {
  const found: string[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = relative(root, join(folder, entry.name)).split(sep).join('/')
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && !skip.includes(path)) visit(join(folder, entry.name))
      } else if (READ.test(path)) found.push(path)
    }
  }
  visit(root)
  return found.sort().map((path) => sourceOf(path, readFileSync(join(root, path), 'utf8')))
}
