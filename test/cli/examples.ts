import { Command } from 'commander'
import { COMMANDS } from '../../src/cli/main.ts'

/** A command with the lines of its example. `path`: `svcd keys new`. */
export interface Shown {
  readonly path: string
  readonly isGroup: boolean
  readonly help: string
  readonly lines: readonly string[]
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

function walk(command: Command, path: string): Shown[] {
  const help = helpOf(command)
  const [, example = ''] = /\nExample:\n([\s\S]*)$/.exec(help) ?? []
  const lines = example
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const below = command.commands.flatMap((one) => walk(one, `${path} ${one.name()}`))
  return [{ path, isGroup: command.commands.length > 0, help, lines }, ...below]
}

/** Every command of the program, groups too, as `--help` shows it. */
export async function shownCommands(): Promise<readonly Shown[]> {
  const all: Shown[] = []
  for (const { name, load } of COMMANDS) {
    const command = new Command(name)
    const { configure } = await load()
    configure(command, () => undefined)
    all.push(...walk(command, `svcd ${name}`))
  }
  return all
}
