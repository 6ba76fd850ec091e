import { afterEach, describe, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
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

/** A Go that answers `go env` and, for `go install`, writes a program that prints the version it was asked for. */
const fakeGo = (before = '') =>
  program(
    'go',
    `
if [ "$1" = env ]; then echo go1.26.1; exit; fi
${before}
v=\${2##*@v}
printf '#!/bin/sh\\necho %s\\n' "$v" > "$GOBIN/cometbft"
/bin/chmod 755 "$GOBIN/cometbft"`,
  )

const find = async (env: NodeJS.ProcessEnv, cacheDir = join(folder(), 'cache')) => {
  const lines: string[] = []
  const found = await findCometBft({
    env,
    cacheDir,
    onProgress: (line) => {
      lines.push(line)
    },
  })
  return { ...found, lines, cacheDir }
}

describe('find', () => {
  test('SVCD_COMETBFT wins over PATH', async () => {
    const named = join(program('mine', printing('0.38.1')), 'mine')
    expect(await find({ SVCD_COMETBFT: named, PATH: program('cometbft', printing('0.38.25')) })).toMatchObject({
      path: named,
      version: '0.38.1',
      source: 'env',
    })
  })

  test('SVCD_COMETBFT that is missing, fails, prints nonsense or is of another line is named in the error', async () => {
    const bad = program('cometbft', 'exit 3')
    for (const [dir, words] of [
      [folder(), /not an executable file/],
      [bad, /does not run/],
      [program('cometbft', 'echo hello'), /does not run: its version: expected .*, got "hello/],
      [program('cometbft', printing('0.34.24')), /expected CometBFT 0\.37 to 0\.40, but .* is 0\.34\.24/],
      [program('cometbft', printing('1.0.1')), /is 1\.0\.1$/],
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
    expect(found).toMatchObject({ path: join(dir, 'cometbft'), version: version.replace('v', ''), source: 'path' })
  })

  test('a program on PATH of a line that is not served is passed over, and said so', async () => {
    const cacheDir = program('cometbft', printing('0.38.25'))
    const found = await find({ PATH: program('cometbft', printing('0.34.1')) }, cacheDir)
    expect(found).toMatchObject({ path: join(cacheDir, 'cometbft'), source: 'cache' })
    expect(found.lines).toEqual([expect.stringMatching(/is passed over: it is CometBFT 0\.34\.1/)])
  })

  test('without any it is built into the cache, and the next time found there', async () => {
    const built = await find({ PATH: fakeGo() })
    expect(built).toMatchObject({ path: join(built.cacheDir, 'cometbft'), version: COMETBFT_VERSION, source: 'built' })
    expect(built.lines[0]).toMatch(/^building CometBFT 0\.38\.25 with Go 1\.26\.1, \d+ s$/)
    expect(await find({ PATH: '' }, built.cacheDir)).toMatchObject({ path: built.path, source: 'cache', lines: [] })
  })

  test('a cached program that does not run is built again', async () => {
    const cacheDir = program('cometbft', 'exit 1')
    expect(await find({ PATH: fakeGo() }, cacheDir)).toMatchObject({ source: 'built', version: COMETBFT_VERSION })
  })

  test('builds at the same time all succeed and leave nothing but the program', async () => {
    const cacheDir = join(folder(), 'a', 'b')
    const PATH = fakeGo('/bin/sleep 0.2')
    const found = await Promise.all([1, 2, 3].map(() => find({ PATH }, cacheDir)))
    expect(found.map(({ source }) => source)).toEqual(['built', 'built', 'built'])
    expect(readdirSync(cacheDir)).toEqual(['cometbft'])
  })

  test('what a killed build left behind is removed by a later one, a running one is left alone', async () => {
    const cacheDir = folder()
    for (const name of ['.build-old', '.build-new']) mkdirSync(join(cacheDir, name))
    utimesSync(join(cacheDir, '.build-old'), 0, 0)
    await find({ PATH: fakeGo() }, cacheDir)
    expect(readdirSync(cacheDir).sort()).toEqual(['.build-new', 'cometbft'])
  })

  test('a build that fails says what Go said, in one line, and leaves nothing', async () => {
    const cacheDir = folder()
    const error = await find({ PATH: fakeGo('echo downloading >&2; echo "no such host" >&2; exit 1') }, cacheDir).catch(
      (e: unknown) => e,
    )
    expect(error).toMatchObject({
      code: 'COMET',
      message: 'building CometBFT 0.38.25 with Go 1.26.1 failed: no such host',
    })
    expect(readdirSync(cacheDir)).toEqual([])
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
    const { PATH = '', HOME } = process.env
    const withoutNode = PATH.split(delimiter)
      .filter((dir) => !existsSync(join(dir, 'cometbft')))
      .join(delimiter)
    const found = await find({ PATH: withoutNode, HOME }, defaultCometCache())
    expect(found).toMatchObject({ version: COMETBFT_VERSION, path: join(defaultCometCache(), 'cometbft') })
    // How often it says so depends on what Go has already compiled on this machine: once at least.
    if (found.source === 'built') expect(found.lines.some((line) => line.startsWith('building'))).toBe(true)
    else expect(found.source).toBe('cache')
  }, 300_000)
})
