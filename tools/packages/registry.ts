import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'

const packed = join(import.meta.dirname, '../../.cache/packages')

interface Manifest {
  readonly name: string
  readonly version: string
}

/** A packed package as npm's registry describes it. */
function describe(tarball: string, url: string): readonly [name: string, document: object] {
  const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' })
  const manifest = JSON.parse(text) as Manifest
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
  const dist = { tarball: `${url}/${basename(tarball)}`, integrity }
  const { name, version } = manifest
  return [name, { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }]
}

interface Registry {
  readonly url: string
  close(): void
}

/** Serves the packages that are packed as a registry on 127.0.0.1. Port 0 is a free one. Throws when there are none. */
export async function serveRegistry(port: number, folder = packed): Promise<Registry> {
  const tarballs = globSync('*.tgz', { cwd: folder }).map((name) => join(folder, name))
  if (tarballs.length === 0) throw new Error(`${folder} has no packages: run npm run pack`)
  const server = createServer((request, response) => {
    // What npm encodes of a name. Anything else may be no encoding at all.
    const path = (request.url ?? '').slice(1).replace(/%40|%2f/gi, decodeURIComponent)
    const document = documents.get(path)
    const tarball = tarballs.find((one) => basename(one) === path)
    if (document !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    else if (tarball !== undefined) response.end(readFileSync(tarball))
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const documents = new Map(tarballs.map((one) => describe(one, url)))
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
