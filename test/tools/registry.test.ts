import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveRegistry } from '../../tools/packages/registry.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'

let folder: TempFolder
beforeAll(() => {
  folder = tempFolder('registry')
  mkdirSync(join(folder.path, 'package'))
  writeFileSync(join(folder.path, 'package/package.json'), '{"name":"@svcd/abci","version":"1.2.3"}')
  execFileSync('tar', ['-czf', 'svcd-abci-1.2.3.tgz', 'package'], { cwd: folder.path })
})
afterAll(() => folder.remove())

test('it serves what is packed, and nothing that is asked of it ends it', async () => {
  const registry = await serveRegistry(0, folder.path)
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`${registry.url}${path}`)
    return response.ok ? response.json() : response.status
  }
  try {
    expect(await ask('/%zz')).toBe(404)
    expect(await ask('/@svcd%2fstore')).toBe(404)
    expect(await ask('/@svcd%2fabci')).toMatchObject({
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': { dist: { tarball: `${registry.url}/svcd-abci-1.2.3.tgz` } } },
    })
  } finally {
    registry.close()
  }
})

test('without packages it does not start', async () => {
  const none = join(folder.path, 'package')
  await expect(serveRegistry(0, none)).rejects.toThrow(`${none} has no packages: run npm run pack`)
})
