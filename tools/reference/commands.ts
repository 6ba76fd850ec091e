import { Command, type Option } from 'commander'
import { COMMANDS } from '../../src/cli/main.ts'
import { table } from './markdown.ts'

/** One command of the program, as `help` shows it. `path`: `svcd keys new`. */
export interface ListedCommand {
  readonly path: string
  readonly command: Command
  readonly help: string
  /** The lines of its example. */
  readonly examples: readonly string[]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({
    writeOut: (part) => {
      help += part
    },
  })
  command.outputHelp()
  return help
}

function walk(command: Command, path: string): ListedCommand[] {
  const help = helpOf(command)
  const [, example = ''] = /\nExample:\n([\s\S]*)$/.exec(help) ?? []
  const examples = example
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return [{ path, command, help, examples }, ...command.commands.flatMap((one) => walk(one, `${path} ${one.name()}`))]
}

/** Every command, groups too. */
export async function listCommands(): Promise<readonly ListedCommand[]> {
  const all: ListedCommand[] = []
  for (const { name, doc, load } of COMMANDS) {
    const command = new Command(name).description(doc)
    const { configure } = await load()
    configure(command)
    all.push(...walk(command, `svcd ${name}`))
  }
  return all
}

/** A flag that so many commands share is described once. */
const COMMON_USERS_MIN = 8

const shownOptions = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden)

function meaningOf({ description, defaultValueDescription, envVar }: Option): string {
  const fallback = defaultValueDescription === undefined ? '' : ` (default: ${defaultValueDescription})`
  const variable = envVar === undefined ? '' : ` (${envVar})`
  return `${description}${fallback}${variable}`.replace(') (', '; ').replace('(env: ', '(')
}

const optionRows = (options: readonly Option[]): string =>
  table(
    ['Flag', 'Meaning'],
    options.map((option) => [`\`${option.flags}\``, meaningOf(option)]),
  )

/** Flags with one meaning in many commands. */
function commonOptions(commands: readonly ListedCommand[]): Map<string, Option> {
  const users = new Map<string, { option: Option; count: number }>()
  for (const option of commands.flatMap(({ command }) => shownOptions(command))) {
    const key = `${option.flags} ${option.description}`
    users.set(key, { option, count: (users.get(key)?.count ?? 0) + 1 })
  }
  return new Map(
    [...users].filter(([, { count }]) => count >= COMMON_USERS_MIN).map(([key, { option }]) => [key, option]),
  )
}

/** The flags that many commands share. */
export const commonFlagsTable = async (): Promise<string> =>
  optionRows([...commonOptions(await listCommands()).values()])

function sectionOf({ path, command, examples }: ListedCommand, common: ReadonlyMap<string, Option>): string {
  const isCommon = ({ flags, description }: Option): boolean => common.has(`${flags} ${description}`)
  const options = shownOptions(command)
  const own = options.filter((option) => !isCommon(option))
  const shared = options.filter(isCommon).map(({ long }) => `\`${long ?? ''}\``)
  const parts = [
    `### ${path}`,
    command.description(),
    ['```sh', ...examples, '```'].join('\n'),
    own.length === 0 ? '' : optionRows(own),
    shared.length === 0 ? '' : `Also: ${shared.join(', ')}.`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** A section for every command that does something itself. */
export async function commandSections(): Promise<string> {
  const commands = await listCommands()
  const common = commonOptions(commands)
  return commands
    .filter(({ command }) => command.commands.length === 0 || command.options.length > 0)
    .map((one) => sectionOf(one, common))
    .join('\n\n')
}

/** Every command with its line of help. */
export const commandsTable = (): string =>
  table(
    ['Command', 'What it does'],
    COMMANDS.map(({ name, doc }) => [`\`svcd ${name}\``, doc]),
  )

/** The environment variables that a flag names in its help, each with the flags that it stands for. */
export async function variablesTable(): Promise<string> {
  const users = new Map<string, Map<string, string[]>>()
  for (const { path, command } of await listCommands()) {
    for (const { envVar: variable, long } of shownOptions(command)) {
      if (variable === undefined) continue
      const flags = users.get(variable) ?? new Map<string, string[]>()
      users.set(variable, flags)
      flags.set(long ?? '', [...(flags.get(long ?? '') ?? []), path.split(' ')[1] ?? ''])
    }
  }
  const rows = [...users].sort(([a], [b]) => (a < b ? -1 : 1))
  return table(
    ['Variable', 'Stands for'],
    rows.map(([variable, flags]) => [
      `\`${variable}\``,
      [...flags]
        .map(([flag, names]) => `\`${flag}\` of ${[...new Set(names)].map((name) => `\`svcd ${name}\``).join(', ')}`)
        .join('; '),
    ]),
  )
}
