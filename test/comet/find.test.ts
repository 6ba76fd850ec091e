import { afterEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programFile } from '../../src/base/cometbftPackage.ts'
import { buildCometBft } from '../../src/comet/build.ts'
import { COMETBFT_VERSION, defaultCometCache, findCometBft } from '../../src/comet/find.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'

const folders: TempFolder[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove()
})

const folder = () => {
  const made = tempFolder('comet')
  folders.push(made)
  return made.path
}

/** A small real program in a folder of its own. */
const program = (name: string, script: string, into = folder()) => {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(into, name), 0o755)
  return into
}

const printing = (version: string) => `[ "$1" = version ] && echo ${version}`

/**
 * A Go that answers `go env` and, for `go install -v`, prints a module and two packages, runs `before`, and writes a
 * program that prints the version it was asked for.
 */
const fakeGo = (before = '') =>
  program(
    'go',
    `
if [ "$2" = GOVERSION ]; then echo go1.26.1; exit; fi
if [ "$1" = env ]; then echo "$GOBIN"; echo "$GOPATH"; exit; fi
echo "go: downloading github.com/cometbft/cometbft v0.38.25" >&2
printf 'internal/goarch\\nunsafe\\n' >&2
${before}
for last; do :; done
v=\${last##*@v}
p=\${last%@*} p=\${p##*/}
printf '#!/bin/sh\\necho %s\\n' "$v" > "$GOBIN/$p"
/bin/chmod 755 "$GOBIN/$p"`,
  )

/** A cache of one version in a folder of its own. */
const newCache = () => join(folder(), COMETBFT_VERSION)

const find = async (env: NodeJS.ProcessEnv, cacheDir = newCache(), folders: readonly string[] = []) => {
  const lines: string[] = []
  const found = await findCometBft({
    env,
    folders,
    cacheDir,
    onProgress: (line) => {
      lines.push(line)
    },
  })
  return { ...found, lines, cacheDir }
}

describe('find', () => {
  test('SVCD_COMETBFT wins over PATH', async () => {
    const named = join(program('mine', printing('0.38.3')), 'mine')
    expect(await find({ SVCD_COMETBFT: named, PATH: program('cometbft', printing('0.38.25')) })).toMatchObject({
      path: named,
      version: '0.38.3',
    })
  })

  test('SVCD_COMETBFT that is missing, fails, prints nonsense or is of another line is named in the error', async () => {
    const bad = program('cometbft', 'exit 3')
    for (const [dir, words] of [
      [folder(), /not an executable file/],
      [bad, /does not run/],
      [program('cometbft', 'echo hello'), /does not run: its version: expected .*, got "hello/],
      [
        program('cometbft', printing('0.34.24')),
        /expected CometBFT 0\.37 to 0\.40, from 0\.37\.5 and 0\.38\.3, but .* is 0\.34\.24/,
      ],
      [program('cometbft', printing('1.0.1')), /is 1\.0\.1$/],
      // They read no reply of more than 100 MiB.
      [program('cometbft', printing('0.37.4')), /is 0\.37\.4$/],
      [program('cometbft', printing('0.38.2')), /is 0\.38\.2$/],
    ] as const) {
      const path = join(dir, 'cometbft')
      const error = await find({ SVCD_COMETBFT: path, PATH: '' }).catch((e: unknown) => e)
      expect(error).toMatchObject({ code: 'COMET', message: expect.stringMatching(words) })
      expect(error).toMatchObject({ message: expect.stringContaining(path) })
    }
  })

  test.each(['0.37.16', '0.38.25', '0.39.0', 'v0.40.0', '0.38.25+5bba72c'])('%s on PATH is taken', async (version) => {
    const dir = program('cometbft', printing(version))
    const found = await find({ PATH: `${folder()}:${dir}` })
    expect(found).toMatchObject({ path: join(dir, 'cometbft'), version: version.replace('v', '') })
  })

  test('every program on PATH is looked at, then the cache and other folders; each passed over is named', async () => {
    const [old, broken] = [program('cometbft', printing('0.34.1')), program('cometbft', 'exit 3')]
    const PATH = `${old}:${broken}`
    const good = program('cometbft', printing('0.37.16'))
    const cacheDir = program('cometbft', printing('0.38.25'), newCache())
    const passedOver = [
      `${join(old, 'cometbft')} is passed over: it is CometBFT 0.34.1, and svcd supports 0.37 to 0.40, from 0.37.5 and 0.38.3`,
      expect.stringContaining(`${join(broken, 'cometbft')} is passed over: `),
    ]
    expect(await find({ PATH: `${PATH}:${good}` }, cacheDir)).toMatchObject({
      path: join(good, 'cometbft'),
      lines: passedOver,
    })
    expect(await find({ PATH }, newCache(), [good])).toMatchObject({
      path: join(good, 'cometbft'),
      lines: passedOver,
    })
    expect(await find({ PATH }, cacheDir)).toMatchObject({ path: join(cacheDir, 'cometbft'), lines: passedOver })
  })

  test('the folders into which Go installs are looked at although they are not on PATH', async () => {
    const GOBIN = program('cometbft', printing('0.39.4'))
    const [GOPATH, HOME] = [folder(), folder()]
    program('cometbft', printing('0.40.0'), join(GOPATH, 'bin'))
    program('cometbft', printing('0.38.3'), join(HOME, 'go/bin'))
    const PATH = fakeGo()
    expect((await find({ PATH, GOBIN, GOPATH, HOME })).version).toBe('0.39.4')
    expect((await find({ PATH, GOPATH, HOME })).version).toBe('0.40.0')
    expect((await find({ PATH, HOME })).version).toBe('0.38.3')
    expect((await find({ PATH: '', HOME })).version).toBe('0.38.3')
  })

  test('another version in the cache is taken before one is built, the newest first', async () => {
    const cacheDir = newCache()
    for (const version of ['0.37.16', '0.37.9', '0.34.24'])
      program('cometbft', printing(version), join(cacheDir, '..', version))
    expect((await find({ PATH: fakeGo() }, cacheDir)).version).toBe('0.37.16')
  })

  test('without any it is built into the cache, and the next time found there', async () => {
    const built = await find({ PATH: fakeGo() })
    expect(built).toMatchObject({ path: join(built.cacheDir, 'cometbft'), version: COMETBFT_VERSION })
    expect(built.lines).toEqual([
      'building CometBFT 0.38.25 with Go 1.26.1',
      expect.stringMatching(/^built CometBFT 0\.38\.25 in \d+ s$/),
    ])
    expect(await find({ PATH: '' }, built.cacheDir)).toMatchObject({ path: built.path, lines: [] })
  })

  test('a long build says how many modules are downloaded, then how many packages are compiled', async () => {
    const { lines } = await find({ PATH: fakeGo('/bin/sleep 3.2') })
    // Before it stands another line where Go itself starts slowly.
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}compiled 2 of about \d+ packages, \d+ s$/))
  })

  test("a tool of CometBFT's module is built beside it", async () => {
    const cacheDir = folder()
    const lines: string[] = []
    await buildCometBft({
      go: join(fakeGo(), 'go'),
      program: 'abci-cli',
      version: '0.37.18',
      cacheDir,
      env: {},
      onProgress: (line) => void lines.push(line),
    })
    expect(readdirSync(cacheDir)).toEqual(['abci-cli'])
    expect(lines[0]).toBe("building CometBFT's abci-cli 0.37.18 with Go 1.26.1")
  })

  test('programs of Windows have names of their own', () => {
    expect(['win32-arm64', 'darwin-arm64'].map((platform) => programFile('go', platform))).toEqual(['go.exe', 'go'])
  })

  test('where Go does not run, the build says so and leaves nothing', async () => {
    const cacheDir = folder()
    const building = buildCometBft({ go: '/no/go', version: '0.38.25', cacheDir, env: {}, onProgress: () => {} })
    await expect(building).rejects.toThrow('building CometBFT 0.38.25 takes Go, and /no/go does not run')
    expect(readdirSync(cacheDir)).toEqual([])
  })

  test('a cached program that does not run is built again', async () => {
    const cacheDir = program('cometbft', 'exit 1', newCache())
    expect((await find({ PATH: fakeGo() }, cacheDir)).lines).toContain('building CometBFT 0.38.25 with Go 1.26.1')
  })

  test('builds at the same time all succeed and leave nothing but the program', async () => {
    const cacheDir = join(folder(), 'a', 'b')
    // Each build goes on when all three have begun.
    const begun = folder()
    const PATH = fakeGo(`: > '${begun}'/$$; until (set -- '${begun}'/*; [ $# -ge 3 ]); do /bin/sleep 0.05; done`)
    const found = await Promise.all([1, 2, 3].map(() => find({ PATH }, cacheDir)))
    for (const { lines } of found) expect(lines.at(-1)).toMatch(/^built/)
    expect(readdirSync(cacheDir)).toEqual(['cometbft'])
  })

  test('a build that fails says what Go said, in one line, and leaves nothing', async () => {
    const cacheDir = newCache()
    const error = await find({ PATH: fakeGo('echo downloading >&2; echo "no such host" >&2; exit 1') }, cacheDir).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({
      code: 'COMET',
      message: 'building CometBFT 0.38.25 with Go 1.26.1 failed: no such host',
    })
    expect(readdirSync(cacheDir)).toEqual([])
  })

  test('a build whose program is ended leaves nothing', async () => {
    const cacheDir = folder()
    const before = process.listeners('exit')
    const go = join(fakeGo('exec /bin/sleep 20'), 'go')
    const building = buildCometBft({ go, version: '0.38.25', cacheDir, env: {}, onProgress: () => {} })
    const added = () => process.listeners('exit').filter((one) => !before.includes(one))
    while (added().length === 0) await sleep(5)
    expect(readdirSync(cacheDir)).toEqual([expect.stringMatching(/^\.build-/)])
    added()[0]?.(0)
    expect(readdirSync(cacheDir)).toEqual([])
    await expect(building).rejects.toThrow('failed')
  })

  test('without Go the error tells both ways to get CometBFT', async () => {
    const error = await find({ PATH: folder() }).catch((e: unknown) => e)
    expect(error).toMatchObject({
      code: 'COMET',
      message: expect.stringMatching(/Install Go.*put cometbft on PATH.*SVCD_COMETBFT/),
    })
    expect((error as Error).message).not.toContain('\n')
  })

  test("the real Go builds the pinned version into the project's cache, or has done so", async () => {
    const { PATH = '' } = process.env
    const withoutNode = PATH.split(delimiter)
      .filter((dir) => !existsSync(join(dir, 'cometbft')))
      .join(delimiter)
    const settings = execFileSync('go', ['env', 'GOCACHE', 'GOMODCACHE'], { encoding: 'utf8' }).split('\n')
    const [GOCACHE, GOMODCACHE] = settings
    const cacheDir = defaultCometCache()
    const found = await find({ PATH: withoutNode, GOPATH: folder(), GOCACHE, GOMODCACHE }, cacheDir)
    expect(found).toMatchObject({ version: COMETBFT_VERSION, path: join(cacheDir, 'cometbft') })
  })
})
