import { MEMORY } from './memory.ts'

/** What the units of a node are made of. */
export interface UnitOptions {
  /** The home, absolute; with `isTemplate` the folder of the homes. */
  readonly home: string
  readonly user: string
  /**
   * The words of each part's command line. The first is an absolute path, a name that systemd finds, or `./script` in
   * the home.
   */
  readonly commands: Readonly<Record<keyof typeof MEMORY, readonly string[]>>
  /** Paths of the programs that are read: where svcd is installed. */
  readonly programs: readonly string[]
  /** Units of many nodes, one instance each, `svcd-app@node0`: its home is the folder of that name. */
  readonly isTemplate?: boolean
}

// systemd reads % as the start of a specifier, also in what it takes as it stands.
const literal = (text: string): string => text.replaceAll('%', '%%')
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
const word = (text: string): string => (/^[\w./:@%-]+$/.test(text) ? text : quoted(text))
// And $ in an argument as that of a variable.
const argument = (text: string): string => word(literal(text).replaceAll('$', '$$$$'))

const isBelowHomes = (path: string): boolean => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path)
const isBelowTmp = (path: string): boolean => /^\/(?:var\/)?tmp\//.test(path)

/** The home as units write it, not yet quoted. */
const homeOf = ({ home, isTemplate = false }: UnitOptions): string => `${literal(home)}${isTemplate ? '/%i' : ''}`

function commandOf(options: UnitOptions, part: keyof typeof MEMORY): string {
  const [program = '', ...args] = options.commands[part]
  const first = program.startsWith('./') ? `${homeOf(options)}${program.slice(1)}` : literal(program)
  return [word(first), ...args.map(argument)].join(' ')
}

/**
 * What a part sees of the users' homes: nothing; where the node's own home lies below them, that alone; where the
 * programs do, all of it, to read as far as the file modes let.
 */
function homesLines(options: UnitOptions, mayWrite: boolean): readonly string[] {
  if (options.programs.some(isBelowHomes)) return ['ProtectHome=read-only']
  if (!isBelowHomes(options.home)) return ['ProtectHome=yes']
  return ['ProtectHome=tmpfs', `${mayWrite ? 'BindPaths' : 'BindReadOnlyPaths'}=${word(homeOf(options))}`]
}

function service(options: UnitOptions, part: keyof typeof MEMORY): string {
  // The gateway reads its settings and keys, and writes nothing.
  const mayWrite = part !== 'gateway'
  return [
    '[Service]',
    `User=${options.user}`,
    'UMask=0077',
    `WorkingDirectory=${homeOf(options)}`,
    `ExecStart=${commandOf(options, part)}`,
    'Restart=on-failure',
    'RestartSec=2',
    'LimitNOFILE=65536',
    'LimitCORE=0',
    `MemoryMax=${MEMORY[part]}`,
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    ...(isBelowTmp(options.home) ? [] : ['PrivateTmp=yes']),
    'ProtectSystem=strict',
    ...homesLines(options, mayWrite),
    ...(mayWrite ? [`ReadWritePaths=${word(homeOf(options))}`] : []),
  ].join('\n')
}

/**
 * The systemd units of a node by their file names: application, CometBFT and gateway, which see and write no more than
 * they need. An application that fails comes back and brings CometBFT with it; one that was retired has ended with 0
 * and stays down, as does CometBFT.
 */
export function systemdUnits(options: UnitOptions): Readonly<Record<string, string>> {
  const [at, of, instance] = options.isTemplate === true ? ['@', ' of %i', '@%i'] : ['', '', '']
  const install = '[Install]\nWantedBy=multi-user.target'
  const app = `svcd-app${instance}.service`
  const cometbft = `svcd-cometbft${instance}.service`
  return {
    [`svcd-app${at}.service`]:
      `[Unit]\nDescription=svcd application${of}\nAfter=network-online.target\nUpholds=${cometbft}\n\n` +
      `${service(options, 'app')}\n\n${install}\n`,
    // The socket of a home whose path is too long for one is in /tmp: they share theirs.
    [`svcd-cometbft${at}.service`]:
      `[Unit]\nDescription=CometBFT${of}\nBindsTo=${app}\nAfter=${app}\nJoinsNamespaceOf=${app}\n\n` +
      // It may hang in its own stop once the application is gone. Killed, it loses nothing.
      `${service(options, 'cometbft')}\nTimeoutStopSec=10\n`,
    [`svcd-gateway${at}.service`]:
      `[Unit]\nDescription=svcd gateway${of}\nAfter=${cometbft}\n\n` + `${service(options, 'gateway')}\n\n${install}\n`,
  }
}
