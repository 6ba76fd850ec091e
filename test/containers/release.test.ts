/** What .ci/images asks of docker for the images of a release, and where CI calls it. */
import { afterAll, describe, expect, test } from '@jest/globals'
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/base/version.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { root, run } from './engine.ts'

const { path: folder, remove } = tempFolder('images')
afterAll(remove)

const IMAGE = 'ghcr.io/me/svcd'
const log = join(folder, 'log')

/** Runs .ci/images with a docker that writes down what it is asked, and knows no builder yet. */
function images(...args: readonly string[]) {
  const program = `#!/bin/sh
echo "$*" >>'${log}'
[ "$1" != version ] || echo arm64
[ "$2" != inspect ] || exit 1
[ "$2 $3" != 'imagetools create' ] || echo made
[ "$2 $3" != 'imagetools inspect' ] || echo sha256:abc
`
  writeFileSync(join(folder, 'docker'), program)
  chmodSync(join(folder, 'docker'), 0o755)
  rmSync(log, { force: true })
  writeFileSync(log, '')
  const path = `${folder}:${join(root, 'node_modules/.bin')}:${process.env['PATH']}`
  const ended = run([join(root, '.ci/images'), ...args], { ...process.env, NODE_OPTIONS: '', PATH: path })
  return { ...ended, asked: readFileSync(log, 'utf8').trim().split('\n') }
}

describe('.ci/images', () => {
  test('builds for the processor of the machine, with provenance and a bill of materials', () => {
    const { status, asked } = images('build', IMAGE, `v${VERSION}`)
    expect(status).toBe(0)
    expect(asked).toEqual([
      'version --format {{.Server.Arch}}',
      'buildx inspect svcd',
      'buildx create --name svcd --driver docker-container',
      `buildx build --builder svcd --provenance=mode=max --sbom=true --tag ${IMAGE}:${VERSION}-arm64 --push .`,
    ])
  })

  test('joins both processors to one image, and prints nothing but its digest', () => {
    const { status, stdout, asked } = images('join', IMAGE, `v${VERSION}`)
    expect([status, stdout]).toEqual([0, 'sha256:abc\n'])
    const [amd64, arm64] = ['amd64', 'arm64'].map((processor) => `${IMAGE}:${VERSION}-${processor}`)
    expect(asked[0]).toBe(`buildx imagetools create --tag ${IMAGE}:${VERSION} ${amd64} ${arm64}`)
  })

  test.each([
    [
      ['build', IMAGE, 'v0.0.1'],
      `images: package.json has version ${VERSION}, so the tag must be v${VERSION}, got: v0.0.1`,
    ],
    [['push', IMAGE, `v${VERSION}`], 'images: expected build or join, got: push'],
  ])('%j is refused in one line', (args, line) => {
    expect(images(...args)).toMatchObject({ status: 1, stderr: `${line}\n`, asked: [''] })
  })
})

test('CI builds on a runner of each processor and joins the images, for a tag that the tests have passed', () => {
  const workflow = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8')
  const [, jobs = '', last = ''] = /\n {2}images:\n([\s\S]*?)\n {2}image:\n([\s\S]*)$/.exec(workflow) ?? []
  expect(jobs).toContain("if: startsWith(github.ref, 'refs/tags/v')\n    needs: test\n")
  expect(jobs).toContain('runner: [ubuntu-24.04, ubuntu-24.04-arm]')
  expect(jobs).toContain(`run: .ci/images build "ghcr.io/\${GITHUB_REPOSITORY,,}" "$GITHUB_REF_NAME"\n`)
  expect(last).toContain('needs: images\n')
  expect(last).toContain('digest=$(.ci/images join "$image" "$GITHUB_REF_NAME")\n')
  expect(last).toContain('uses: actions/attest-build-provenance@')
})
