import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { tempFolder } from './tempFolder.ts'

const root = join(import.meta.dirname, '../..')

/** What a package exports by name, and the file that declares it. */
export interface Exported {
  readonly name: string
  readonly isType: boolean
  readonly file: string
}

/** What the file `index` of a package exports by name, in its order. */
export const exportsOf = (index: string): readonly Exported[] =>
  [...readFileSync(join(root, index), 'utf8').matchAll(/^export (type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, type, names = '', file = '']) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
        .map((name) => ({
          name: name.replace(/^type /, ''),
          isType: type !== undefined || name.startsWith('type '),
          file: resolve(root, dirname(index), file),
        })),
  )

/** The docstring of an export, of those that have several declarations the one with an example; '' without one. */
export function docOf({ name, file }: Exported): string {
  const declaration = new RegExp(
    `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export (?:interface|class|type|const|(?:async )?function\\*?) ${name}\\b`,
    'g',
  )
  const docs = [...readFileSync(file, 'utf8').matchAll(declaration)].map(([, doc = '']) => doc)
  return docs.find((doc) => doc.includes('@example')) ?? docs[0] ?? ''
}

/** The code behind `@example` in the docstring of an export. */
export function exampleOf(exported: Exported): string | undefined {
  const [, code] = /@example\n([\s\S]*)$/.exec(docOf(exported)) ?? []
  return code?.replace(/^ *\* ?/gm, '')
}

/**
 * Compiles the examples of these exports, each a function of its own, which may use all exports of `index` and what
 * `given` declares. Returns the compiler's exit status and what it printed.
 */
export function compileExamples(
  index: string,
  given: string,
  exported: readonly Exported[],
): readonly [status: number | null, printed: string] {
  const { path: folder, remove } = tempFolder('examples')
  try {
    const names = exportsOf(index).map(({ name }) => name)
    const examples = exported.map((one) => `export const ${one.name}Example = async () => {\n${exampleOf(one)}\n}`)
    const source = [`import { ${names.join(', ')} } from ${JSON.stringify(join(root, index))}`, given, ...examples]
    writeFileSync(join(folder, 'examples.ts'), source.join('\n'))
    const options = {
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: false,
      verbatimModuleSyntax: false,
      noUnusedLocals: false,
      typeRoots: [join(root, 'node_modules/@types')],
      lib: ['es2024', 'dom'],
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: options, include: ['examples.ts'] }),
    )
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
    )
    return [status, stdout]
  } finally {
    remove()
  }
}
