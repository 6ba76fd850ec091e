import { VERSION } from '../../base/version.ts'
import { chainVersionAt } from '../../node/chainVersion.ts'
import { UserError } from '../../node/errors.ts'
import { needChainId } from '../../node/homes.ts'
import { type CommonFlags, commonOptions, type Configure, subcommand, withOptions } from '../options.ts'
import { formatFields, printAnswer } from '../output.ts'
import { acceptProgramVersion, PROGRAM_VERSION_LIMITS } from '../../node/programVersion.ts'
import { parseWhole } from '../../node/settings.ts'

/**
 * Declares this release the one that runs a program version in a home, from its next start on. Throws a UserError when
 * the state of the home needs another one: an older release that still has to run there would be refused.
 */
function accept(text: string, { home, json }: CommonFlags): void {
  const version = parseWhole(PROGRAM_VERSION_LIMITS)(text, '<version>')
  const chainId = needChainId(home)
  const { version: chain, from } = chainVersionAt(home)
  if (from === 'state' && chain !== version) {
    throw new UserError(
      `<version>: expected ${chain}, which the chain is at in ${home}, got ${version}` +
        (version > Number(chain) ? `. Run the release of version ${chain} until the chain retires it` : ''),
    )
  }
  acceptProgramVersion(home, version)
  const made = { home, chain_id: chainId, release: VERSION, program_version: version }
  printAnswer(json, made, () => `${formatFields(made)}\nthis release runs version ${version} from its next start on`)
}

/** Configures `svcd program`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd program accept 1')
  const doc = 'Declares that this release runs a program version, as the successor of a retired program.'
  subcommand(command, 'accept', doc, 'svcd program accept 1', commonOptions)
    .argument('<version>', 'program version that the chain is at')
    .action(accept)
}
