import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parseAmount } from '../../src/cli/amounts.ts'
import { makePlace, startDevnet } from './support/devnet.ts'
import { testFolder } from './support/testFolder.ts'
import { runTour, type TourStep, tourCommands } from './support/tour.ts'

const folder = testFolder()

const outputOf = (steps: readonly TourStep[], command: RegExp): string => {
  const found = steps.filter((step) => command.test(step.command))
  expect(found).toHaveLength(1)
  return found[0]?.output ?? ''
}

test("README's tour, pasted into one bash, ends where the page says and leaves nothing behind", async () => {
  const place = await makePlace(join(folder, '.svcd'))
  const [gateway, rpc] = place.ports.map((port) => `127.0.0.1:${port}`)
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  const env = {
    ...process.env,
    HOME: folder,
    TMPDIR: temporary,
    NODE_OPTIONS: '',
    SVCD_HOME: place.home,
    SVCD_GATEWAY: gateway,
    SVCD_NODE: `http://${rpc}`,
  }
  const net = await startDevnet(place, ['--os', 'ubuntu'], env)
  const steps = await runTour(gateway as string, env)

  expect(steps.map(({ command }) => command)).toEqual(tourCommands())
  for (const command of [/tx transfer/, /tx stake delegate/, /tx stake declare/, /governance vote/])
    expect(outputOf(steps, command)).toMatch(/^result +ok$/m)
  expect(outputOf(steps, /query validators/)).toMatch(/Validator \(joining\) +alice$/m)
  expect(outputOf(steps, /query proposals/)).toMatch(/change_param .* Approved$/m)
  const balance = outputOf(steps, /--prove/)
  expect(balance).toMatch(/^verified +true$/m)
  const [, proven = ''] = /^data\.balance +([\d.]+ tokens)$/m.exec(balance) ?? []
  expect(JSON.parse(outputOf(steps, /^curl/))).toMatchObject({ result: parseAmount(proven, '') })

  const { data: proposals } = await net.call<{ data: readonly { Result: string }[] }>('svc_queryProposals')
  expect(proposals.map(({ Result }) => Result)).toEqual(['Approved'])
  expect((await net.call<{ data: readonly unknown[] }>('svc_queryValidators')).data).toHaveLength(2)

  // Nothing is left but the chain: no key, no password, no process.
  expect((await net.stop('SIGINT', true)).status).toBe(0)
  expect(readdirSync(temporary)).toEqual([])
  expect(existsSync(join(place.home, 'keystore')) ? readdirSync(join(place.home, 'keystore')) : []).toEqual([])
  expect(readdirSync(folder).sort()).toEqual(['.svcd', 'temporary'])
})
