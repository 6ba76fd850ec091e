import { existsSync } from 'node:fs'
import { findCometBft } from '../../comet/find.ts'
import { homeFiles } from '../../comet/home.ts'
import { rollbackCometBft } from '../../comet/process.ts'
import { Failed, UserError } from '../../node/errors.ts'
import { needState } from '../../node/homes.ts'
import { commonOptions, type Configure, type FlagsOf, option, withOptions } from '../options.ts'
import { printAnswer, progressOn } from '../output.ts'
import { openState, printHash } from '../../node/stateFile.ts'

const options = [
  ...commonOptions,
  option('--app-only', "leave CometBFT's state as it is, because it is kept elsewhere"),
] as const

/** The head of the state, as `--json` prints it. */
const headOf = ({ height, appHash }: { readonly height: number; readonly appHash: Uint8Array }) => ({
  height,
  app_hash: printHash(appHash),
})

type Head = ReturnType<typeof headOf>

/** Rolls CometBFT back. Returns a check that throws unless the application would then be at the same head. */
async function rollBackCometBft(home: string): Promise<(to: Head) => void> {
  if (!existsSync(homeFiles(home).blockStore)) {
    throw new UserError(
      `${home} has no blocks of CometBFT: run "cometbft rollback --home DIR" where they are, then ` +
        'svcd rollback --app-only here. Without CometBFT, use --app-only alone',
    )
  }
  const { path } = await findCometBft({ onProgress: progressOn(process.stderr) })
  return (to) => {
    const comet = rollbackCometBft(path, home)
    if (comet.height === to.height && comet.appHash === to.app_hash) return
    const next =
      comet.height > to.height
        ? 'start the node, and CometBFT executes the blocks that the application lacks'
        : 'the two do not belong together; sync this node again'
    throw new Failed(
      `CometBFT's state is at height ${comet.height} with app hash ${comet.appHash}, the application would be at ` +
        `${to.height} with ${to.app_hash}; it stays where it was: ${next}`,
    )
  }
}

async function run({ home, json, appOnly = false }: FlagsOf<typeof options>): Promise<void> {
  const path = needState(home)
  const agree = appOnly ? undefined : await rollBackCometBft(home)
  const store = openState(path)
  try {
    const from = headOf({ height: store.height(), appHash: store.appHash() })
    store.rollback((to) => agree?.(headOf(to)))
    const to = headOf({ height: store.height(), appHash: store.appHash() })
    printAnswer(
      json,
      { home, from, to, cometbft: agree !== undefined },
      () =>
        `the application${agree === undefined ? ' alone' : ' and CometBFT'} went back from height ${from.height} to ${to.height}\n` +
        `app hash ${to.app_hash}\nwhen the node is started, block ${from.height} is executed again`,
    )
  } finally {
    store.close()
  }
}

/** Configures `svcd rollback`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd rollback --home ~/my-chain', options).action(run)
}
