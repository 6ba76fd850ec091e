import { Argument, type Command, type Option } from 'commander'
import { addressOfFile, listKeyFiles } from '../../keys/files.ts'
import { PARAMETERS } from '../../modules/params/definitions.ts'
import { UserError } from '../../node/errors.ts'
import { type Configure, homeOption, keystoreFrom, withOptions } from '../options.ts'
import { say } from '../output.ts'
import { printable } from '../../base/printable.ts'

/** What a word may be completed to. */
interface Candidate {
  readonly value: string
  readonly doc: string
}

/** The answer that makes the shell complete the name of a file. */
const FILES = ':files'

/**
 * The script of each shell. At each Tab it runs `svcd completion SHELL -- WORD…` with the words before the cursor, the last
 * of which may be empty, and reads one candidate a line: the value, a tab, its meaning.
 */
const SCRIPTS = {
  bash: `_svcd() {
  local line="\${COMP_LINE:0:COMP_POINT}" word words
  IFS=' ' read -ra words <<<"$line"
  [[ $line == *' ' ]] && words+=('')
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ $word == ${FILES} ]]; then compopt -o default; else COMPREPLY+=("$word"); fi
  done < <(svcd completion bash -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _svcd svcd`,
  zsh: `#compdef svcd
_svcd() {
  local line
  local -a found
  for line in "\${(@f)$(svcd completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ${FILES} ]]; then _files; return; fi
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe svcd found
}
if [[ $funcstack[1] == _svcd ]]; then _svcd "$@"; else compdef _svcd svcd; fi`,
  fish: `function __svcd_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (svcd completion fish -- $words[2..] "$current" 2>/dev/null)
  if test "$found[1]" = ${FILES}
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
complete -c svcd -f -a '(__svcd_complete)'`,
} as const

/** The words that stand before the one that is completed, as the command line's parser would read them. */
function read(root: Command, words: readonly string[]) {
  let command = root
  let option: Option | undefined
  let values = 0
  const given = new Map<string, string>()
  for (const word of words) {
    if (option !== undefined) {
      given.set(option.attributeName(), word)
      option = undefined
    } else if (word.startsWith('-')) {
      const found = command.options.find(({ long, short }) => [long, short].includes(word.replace(/=.*$/s, '')))
      if (found === undefined) continue
      given.set(found.attributeName(), word.replace(/^[^=]*=?/s, ''))
      if ((found.required || found.optional) && !word.includes('=')) option = found
    } else {
      const inner = command.commands.find((one) => one.name() === word)
      command = inner ?? command
      if (inner === undefined) values += 1
    }
  }
  return { command, given, option, values }
}

type Line = ReturnType<typeof read>

const candidates = (values: Iterable<string>, doc: string): readonly Candidate[] =>
  [...values].map((value) => ({ value, doc }))

/** The values of an option or an argument. Of one that takes any text there are none. */
function valuesOf({ command, given }: Line, of: Option | Argument): readonly Candidate[] {
  const name = of instanceof Argument ? of.name() : (/<([a-z:-]+)/.exec(of.flags)?.[1] ?? '')
  if (of.argChoices !== undefined) return candidates(of.argChoices, of.description)
  if (command.name() === 'propose-change-param' && name === 'name') return candidates(PARAMETERS.keys(), of.description)
  if (name === 'file' || name === 'dir') return [{ value: FILES, doc: '' }]
  if (!/^(?:accounts?|keys?)$/.test(name)) return []
  const home = given.get('home') ?? process.env['SVCD_HOME'] ?? homeOption.defaultValue ?? ''
  const keystore = given.get('keystore') ?? process.env['SVCD_KEYSTORE']
  return listKeyFiles(keystoreFrom({ home, keystore })).map((key) => ({
    value: key.name,
    doc: 'problem' in key ? key.problem : addressOfFile(key),
  }))
}

/** What the last of the words may become. The file of the command that they name must be loaded. */
export function complete(root: Command, words: readonly string[]): readonly Candidate[] {
  const current = words.at(-1) ?? ''
  const line = read(root, words.slice(0, -1))
  const { command, given, option, values } = line
  const fits = ({ value }: Candidate): boolean => value === FILES || value.startsWith(current)
  if (option !== undefined) return valuesOf(line, option).filter(fits)
  const help = command.createHelp()
  const flags = help
    .visibleOptions(command)
    .filter((one) => one.variadic || !given.has(one.attributeName()))
    .map((one) => ({ value: one.long ?? '', doc: one.description }))
  if (current.startsWith('-')) return flags.filter(fits)
  const inner = help.visibleCommands(command).map((one) => ({ value: one.name(), doc: one.description() }))
  if (inner.length > 0) return inner.filter(fits)
  const argument = command.registeredArguments[values]
  const found = argument === undefined ? [] : valuesOf(line, argument).filter(fits)
  return found.length > 0 || current !== '' ? found : flags
}

function run(shell: string, words: readonly string[], root: Command): void {
  if (!Object.hasOwn(SCRIPTS, shell)) {
    const known = Object.keys(SCRIPTS).join(', ')
    throw new UserError(`the shell: expected one of ${known}, got ${JSON.stringify(shell)}`)
  }
  if (words.length === 0) return say(SCRIPTS[shell as keyof typeof SCRIPTS])
  for (const { value, doc } of complete(root, words))
    say(value === FILES ? FILES : `${printable(value)}\t${printable(doc)}`)
}

/** Configures `svcd completion`. */
export const configure: Configure = (command) => {
  const shell = new Argument('<shell>', 'bash, zsh or fish')
  shell.argChoices = Object.keys(SCRIPTS)
  withOptions(command, 'source <(svcd completion bash)')
    .addArgument(shell)
    .argument('[words...]', 'behind --: prints what the last of these words of a command line may become')
    .action((name: string, words: readonly string[]) => run(name, words, command.parent as Command))
}
