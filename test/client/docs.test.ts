import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { operations, queries } from '../../src/client/gen/calls.ts'

const root = join(import.meta.dirname, '../..')
const docs = readFileSync(join(root, 'docs/client.md'), 'utf8')

test.each([...operations, ...queries].map(({ call }) => call))('docs/client.md has an example of %s', (call) => {
  const [, section = ''] = docs.split(`<!-- /${call} -->`)
  const [example = ''] = /```js[\s\S]*?```/.exec(section.split('\n### ')[0] as string) ?? []
  expect(example).toContain(`svc.async.${call}(`)
})
