import { isDiskFull } from '../base/diskFull.ts'

/** A mistake that the user can correct. `message` is one line; the program prints it and exits with status 2. */
export class UserError extends Error {
  override readonly name = 'UserError'
}

/**
 * An operation that failed. The program prints `message` and exits with status 1; with `--json` it prints `answer` to
 * stdout.
 */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly answer: unknown
  constructor(message: string, answer?: unknown) {
    super(message)
    this.answer = answer ?? { error: { message } }
  }
}

/** The errors whose message is written for the user, by name, with the exit status that they lead to. */
const EXIT_STATUSES: ReadonlyMap<unknown, 1 | 2> = new Map([
  ['Failed', 1],
  ['KeystoreError', 1],
  ['UserError', 2],
  ['StoreError', 2],
  ['GenesisError', 2],
  ['GatewayStartError', 2],
  ['FolderError', 2],
  ['CometError', 2],
  ['NodeError', 2],
])

/** The error to show for one that a command threw: a full disk is the user's to correct, wherever it was met. */
export const shownFor = (error: unknown): unknown =>
  isDiskFull(error)
    ? new UserError(`the disk is full: ${(error as Error).message}. Free some space, then run the command again`)
    : error

/**
 * The exit status for an error whose message is written for the user; undefined for a bug of svcd. An error of the file
 * system that names a path is the user's to correct: a file without permission, or a folder where a file belongs.
 */
export function exitStatusOf(error: unknown): 1 | 2 | undefined {
  const { name, syscall, path } = (error ?? {}) as Readonly<Record<'name' | 'syscall' | 'path', unknown>>
  return EXIT_STATUSES.get(name) ?? (typeof syscall === 'string' && typeof path === 'string' ? 2 : undefined)
}
