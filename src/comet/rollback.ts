import { execFileSync } from 'node:child_process'
import { CometError, reasonOf } from './errors.ts'

/** Where CometBFT stands: height of its state, and the app hash after that block as upper-case hex. */
export type CometHead = { height: number; appHash: string }

const ROLLBACK_MS_MAX = 60_000

/**
 * Takes the state of a stopped CometBFT back by one height; its blocks stay. Where its newest block never got into its
 * state, nothing changes: that is what a rollback leaves, so asking twice is the same as asking once. Returns where it
 * stands then. Errors: CometError, when it runs, has no block before its newest, or cannot be read. Waits for the
 * program: nothing else runs meanwhile.
 */
export const rollbackCometBft = (program: string, home: string): CometHead => {
  let told: string
  try {
    told = execFileSync(program, ['rollback', '--home', home], {
      encoding: 'utf8',
      timeout: ROLLBACK_MS_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string }
    const why = /failed to rollback state: .*/.exec(stderr ?? '')?.[0] ?? reasonOf(error)
    const hint = /unavailable/.test(why) ? ' (does it run? stop it first)' : ''
    throw new CometError(`CometBFT of ${home} was not taken back: ${why}${hint}`)
  }
  const [, height, appHash] = /^Rolled back state to height (\d+) and hash ([0-9A-F]*)$/m.exec(told) ?? []
  if (height === undefined || appHash === undefined) {
    throw new CometError(
      `cometbft rollback answered ${JSON.stringify(told.slice(0, 200))}, which this program does not understand`,
    )
  }
  return { height: Number(height), appHash }
}
