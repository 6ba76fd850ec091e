import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { addKeyFile } from '../../src/keys/files.ts'
import { shellWord } from '../../src/cli/networkScripts.ts'
import { complete } from '../../src/cli/commands/completion.ts'
import { program } from '../../src/cli/main.ts'
import { createKeystore } from '../../src/keys/keystore.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { SVCD_WORDS } from '../../src/node/paths.ts'
import { makePlace, svcd } from './support.ts'
import { commandOnTerminal } from './terminal.ts'

const here = makePlace([1, 2, 3])
const place = { ...here, env: { ...here.env, PATH: `${join(here.folder, 'bin')}${delimiter}${here.env['PATH']}` } }
const keys = join(here.folder, 'keys')
afterAll(here.remove)

beforeAll(() => {
  addKeyFile(keys, 'alice', createKeystore(new Uint8Array(32).fill(7), 'horse'))
  mkdirSync(join(here.folder, 'bin'))
  // Completes as svcd does, and prints any other command line.
  const program = `#!/bin/sh\nif [ "$1" = completion ]; then exec ${SVCD_WORDS.map(shellWord).join(' ')} "$@"; fi\necho "RAN $*"\n`
  writeFileSync(join(here.folder, 'bin', 'svcd'), program, { mode: 0o755 })
  writeFileSync(join(here.folder, 'password.txt'), 'horse\n')
})

const valuesOf = async (...words: string[]): Promise<readonly string[]> =>
  complete(await program(['completion', 'bash', '--', ...words]), words).map(({ value }) => value)

describe('a word may become', () => {
  test.each<[string, string[], string[]]>([
    ['a command', ['qu'], ['query']],
    ['a command of a group', ['tx', 'governance', 'v'], ['vote']],
    ['a command of one kind of operation', ['tx', 'stake', 'und'], ['undelegate']],
    ['an option that was not given yet', ['tx', 'transfer', '--value', '1token', '--v'], []],
    ['an option', ['tx', 'transfer', '--to', '0x1', '--v'], ['--value']],
    ['Y or N', ['tx', 'governance', 'vote', '--answer', ''], ['Y', 'N']],
    ['a parameter', ['tx', 'governance', 'propose-change-param', '--name', ''], [...PARAMETERS.keys()]],
    ['a table', ['query', 'proof', '--table', 'acc'], ['accounts', 'account_updates']],
    ['a key that sends', ['tx', 'transfer', '--keystore', keys, '--from', ''], ['alice']],
    ['a key as an argument', ['keys', 'show', '--keystore', keys, 'a'], ['alice']],
    ['a key of another folder', ['tx', 'transfer', '--keystore', 'none', '--from', ''], []],
    ['a file', ['tx', 'transfer', '--password-file', 'pass'], [':files']],
    ['a shell', ['completion', ''], ['bash', 'zsh', 'fish']],
    ['nothing, where it may be any text', ['tx', 'transfer', '--to', ''], []],
  ])('%s', async (_what, words, values) => {
    expect(await valuesOf(...words)).toEqual(values)
  })

  test('a shell that is none is named with those that are', async () => {
    expect(await svcd(place, ['completion', 'tcsh'])).toMatchObject({
      status: 2,
      stderr: 'svcd: the shell: expected one of bash, zsh, fish, got "tcsh"\n',
    })
  })
})

const COMMANDS = {
  bash: ['--norc', '--noprofile', '-i'],
  zsh: ['-f', '-i'],
  fish: ['--no-config', '-i'],
}
// What is typed shows too, so that the prompt is written in another way there.
const SETUPS = {
  bash: 'PS1="re""ady> "; source <(svcd completion bash)',
  zsh: 'PS1="re""ady> "; autoload -Uz compinit; compinit -D -u; source <(svcd completion zsh)',
  fish: 'set -g fish_autosuggestion_enabled 0; function fish_prompt; echo "re""ady> "; end; svcd completion fish | source',
}

describe.each(['bash', 'zsh', 'fish'] as const)('in %s', (shell) => {
  const program = ['/usr/bin', '/bin'].map((folder) => join(folder, shell)).find((path) => existsSync(path))
  // skip: this shell is not on this machine (.ci/run installs Debian's)
  const withShell = program === undefined ? test.skip : test

  withShell('Tab completes commands, options, their values, the names of keys, and files', async () => {
    const { stdout } = await commandOnTerminal(
      place,
      [program as string, ...COMMANDS[shell]],
      [
        { seen: /[$%>#]/, type: `${SETUPS[shell]}\r` },
        { seen: /ready> /, type: 'svcd tx gov\tvo\t--ans\tY --fr\tal\t--password-file pass\t\r' },
        { seen: /RAN [\s\S]*ready> /, type: 'exit\r' },
      ],
    )
    expect(stdout).toContain('RAN tx governance vote --answer Y --from alice --password-file password.txt\r\n')
  })
})
