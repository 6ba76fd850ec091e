import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'
import { tempFolder } from '../support/tempFolder.ts'

const root = join(import.meta.dirname, '../..')
const index = join(root, 'src/client/index.ts')

/** What `svcd/client` exports by name, with the file that declares it. The generated types are left out. */
const exported = [...readFileSync(index, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
  ([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      .map((name) => ({ name, file: resolve(root, 'src/client', file) })),
)

/** The code behind `@example` in the docstring of an export. */
function exampleOf({ name, file }: (typeof exported)[number]): string | undefined {
  const declaration = new RegExp(
    `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export (?:interface|class|type|const|(?:async )?function) ${name}\\b`,
    'g',
  )
  const docs = [...readFileSync(file, 'utf8').matchAll(declaration)].map(([, doc = '']) => doc)
  const [, code] = /@example\n([\s\S]*)$/.exec(docs.find((doc) => doc.includes('@example')) ?? '') ?? []
  return code?.replace(/^ *\* ?/gm, '')
}

test.each(exported)('the docstring of $name has an example', (one) => {
  expect(exampleOf(one)).toMatch(/\w/)
})

test('the examples of all exports agree with their types', () => {
  const { path: folder, remove } = tempFolder('examples')
  try {
    const names = exported.map(({ name }) => name)
    const examples = exported.map((one) => `export const ${one.name}Example = async () => {\n${exampleOf(one)}\n}`)
    writeFileSync(
      join(folder, 'examples.ts'),
      [
        `import { ${names.join(', ')} } from ${JSON.stringify(index)}`,
        'declare const svc: Svc',
        'declare const from: string, to: string, owner: string, hash: string, newCandidateAccount: string',
        ...examples,
      ].join('\n'),
    )
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
      {
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    )
    expect([status, stdout]).toEqual([0, ''])
  } finally {
    remove()
  }
})
