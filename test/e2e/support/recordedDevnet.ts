import { join } from 'node:path'
import { type Devnet, type DevnetOptions, startDevnet as start } from '../../../src/cli/devnet/startDevnet.ts'
import { tempFolder } from '../../support/tempFolder.ts'
import { recordedCometBftOf } from './devnet.ts'

async function startRecorded(options: DevnetOptions): Promise<Devnet> {
  const folder = tempFolder('devnet')
  const home = options.home ?? join(folder.path, 'home')
  const comet = await recordedCometBftOf(home, options.validators)
  const end = async (): Promise<number> => {
    try {
      return await comet.close()
    } finally {
      folder.remove()
    }
  }
  const { SVCD_COMETBFT: program } = process.env
  process.env['SVCD_COMETBFT'] = comet.path
  try {
    const devnet = await start({ ...options, home })
    return {
      ...devnet,
      close: async () => {
        await devnet.close()
        if ((await end()) === 0) throw new Error('the devnet made blocks, and no ABCI call was recorded')
      },
    }
  } catch (error) {
    await end()
    throw error
  } finally {
    if (program === undefined) delete process.env['SVCD_COMETBFT']
    else process.env['SVCD_COMETBFT'] = program
  }
}

let starting: Promise<unknown> = Promise.resolve()

/**
 * `startDevnet` of the program, with recorders between CometBFT and the applications: `close` rejects when CometBFT's
 * calls came in an order that its grammar does not have. Starts one after the other, because which CometBFT runs is said
 * by a variable of this process.
 */
export function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const started = starting.then(() => startRecorded(options))
  starting = started.catch(() => undefined)
  return started
}
