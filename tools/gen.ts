/**
 * Builds src/codec/gen from proto/, for each of its folders: a static protobufjs module, and the descriptor (which
 * member is `optional`, which a message) that the typed codec reads. tools/abciTypes.ts adds the types of ABCI's messages.
 * Then tools/gen-lists.ts writes the lists of operations, queries and kinds of proposal, and tools/gen-client.ts builds
 * src/client/gen. Generated files are never committed.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { abciTypes, type JsonNode } from './abciTypes.ts'
import { writeLists } from './gen-lists.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const out = join(root, 'src/codec/gen')

function pbjs(args: string[]): void {
  const bin = join(root, 'node_modules/protobufjs-cli/bin/pbjs')
  execFileSync(process.execPath, [bin, '-p', 'proto', ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}

/** `name -> members`, messages and enums by their full name; a member's type is a scalar's name, or a full name. */
function describe(node: JsonNode, path: string[], into: Record<string, unknown>): void {
  for (const [name, child] of Object.entries(node.nested ?? {})) {
    const full = [...path, name]
    if (child.values !== undefined) into[full.join('.')] = { values: child.values }
    if (child.fields !== undefined) {
      into[full.join('.')] = {
        fields: Object.entries(child.fields).map(([member, field]) => ({
          name: member,
          id: field.id,
          type: field.type,
          ...(field.rule === 'repeated' ? { repeated: true } : {}),
          ...(field.options?.proto3_optional === true ? { optional: true } : {}),
        })),
      }
    }
    describe(child, full, into)
  }
}

/** The declarations in `protos`, with the comments above them. */
function parse(protos: readonly string[]): JsonNode {
  const parsed = new protobuf.Root()
  parsed.resolvePath = (origin, target) => join(root, origin === '' ? '' : 'proto', target)
  return parsed.loadSync([...protos], { alternateCommentMode: true }).toJSON({ keepComments: true }) as JsonNode
}

interface Bundle {
  readonly name: string
  readonly namespace: string
  readonly protos: readonly string[]
}

/**
 * What becomes one module each: a folder of proto, but for the state's rows, which only the chain needs: no browser
 * shall ship them.
 */
function bundles(): readonly Bundle[] {
  return readdirSync(join(root, 'proto'))
    .sort()
    .flatMap((folder): readonly Bundle[] => {
      const files = readdirSync(join(root, 'proto', folder))
        .filter((file) => file.endsWith('.proto'))
        .sort()
      const all = files.map((file) => join('proto', folder, file))
      const state = all.filter((file) => file.endsWith('/state.proto'))
      const own = { name: folder, namespace: folder, protos: all.filter((file) => !state.includes(file)) }
      return state.length === 0 ? [own] : [own, { name: 'state', namespace: folder, protos: state }]
    })
}

const STATIC_FLAGS = [
  '--force-number',
  '--no-create',
  '--no-verify',
  '--no-delimited',
  '--no-convert',
  '--no-typeurl',
  '--no-comments',
]

/** Writes the message classes of `protos` to gen/`file`.js. */
function writeStatic(file: string, name: string, protos: readonly string[], ...flags: readonly string[]): void {
  const js = join(out, `${file}.js`)
  pbjs(['-t', 'static-module', '-w', 'es6', '--es6', ...STATIC_FLAGS, ...flags, '-r', name, '-o', js, ...protos])
  // The setup must come before the generated code: without it 64-bit members are read through `long`.
  writeFileSync(
    js,
    readFileSync(js, 'utf8').replace(/^import .*protobufjs.*$/m, "import { $protobuf } from '../protobuf.ts'"),
  )
}

/**
 * Leaves nothing but `encode` of what pbjs wrote: a page hands it plain objects, and loads no constructors, defaults and
 * getters that nobody calls. That is a tenth of the client's code.
 */
function keepEncoders(file: string): void {
  const js = join(out, `${file}.js`)
  const unused = [
    /^ *(?:let|var) \$oneOfFields;\n/gm,
    /^ *\$Object\.defineProperty\([\s\S]*?\n {12}\}\);\n/gm,
    /^ *\w+\.prototype\..*\n/gm,
    /^ *if \(message\.\$unknowns.*\n.*\n.*\n/gm,
    /^ *if \(_depth === \$undefined\)\n.*\n *if \(_depth > .*\n.*\n/gm,
  ]
  const text = readFileSync(js, 'utf8').replace(
    /const (\w+) = function \(properties\) \{[\s\S]*?\n {12}\};\n/g,
    'const $1 = {};\n',
  )
  writeFileSync(
    js,
    unused.reduce((left, part) => left.replace(part, ''), text),
  )
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
for (const { name, namespace, protos } of bundles()) {
  writeStatic(name, name, protos)
  // A page signs transactions and never reads one; it reads proofs and rows and never writes one (`browser` in
  // package.json).
  if (name === 'svc') {
    writeStatic('svc.encode', name, protos, '--no-decode')
    keepEncoders('svc.encode')
  }
  if (name === 'ics23' || name === 'state') writeStatic(`${name}.decode`, name, protos, '--no-encode')
  const declared = parse(protos)
  const descriptor: Record<string, unknown> = {}
  describe(declared, [], descriptor)
  writeFileSync(
    join(out, `${name}.d.ts`),
    `import type { StaticRoot } from '../protobuf.ts'\nexport const ${namespace}: StaticRoot\n`,
  )
  writeFileSync(join(out, `${name}.descriptor.js`), `export const descriptor = ${JSON.stringify(descriptor)}\n`)
  const types = "import type { Descriptor } from '../protobuf.ts'\nexport const descriptor: Descriptor\n"
  writeFileSync(join(out, `${name}.descriptor.d.ts`), types)
  if (name === 'abci') writeFileSync(join(out, 'abci.types.ts'), abciTypes(declared.nested?.[name]?.nested ?? {}))
}

writeLists(root)
// A process of its own: it loads what has just been written.
execFileSync(process.execPath, [join(root, 'tools/gen-client.ts')], { cwd: root, stdio: 'inherit' })
