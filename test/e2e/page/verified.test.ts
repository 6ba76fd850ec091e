import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { type Gateway, startGateway } from '../../../src/gateway/gateway.ts'
import type { LightProxy } from '../../../src/comet/light.ts'
import { type Devnet, makePlace, startDevnet } from '../support/devnet.ts'
import { startLight } from '../support/light.ts'
import { openPage, startBrowser, withBrowser } from '../support/page.ts'
import { testFolder } from '../support/testFolder.ts'

withBrowser('rows with their proof', () => {
  let net: Devnet
  let light: LightProxy
  let gateway: Gateway
  let browser: Browser
  let owner = ''

  const folder = testFolder(async () => {
    await browser?.close()
    await gateway?.close()
    await light?.stop()
    await net?.stop()
  })

  beforeAll(async () => {
    net = await startDevnet(await makePlace(join(folder, 'chain')), ['--os', 'ubuntu'])
    owner = (await net.call<string[]>('svc_accounts'))[0] as string
    await net.waitForHeight(2)
    light = await startLight(net, join(folder, 'light'))
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
    gateway = await startGateway({ node: net.node.url, port: 0, light: light.url, logger })
    browser = await startBrowser()
  })

  test('are proven by the light client once the reader asks for it, and a row that was changed is told', async () => {
    const { page, failures, shot, goTo, close } = await openPage(browser, gateway.url)
    await goTo(`accounts/${owner}`)
    await page.getByText('base units').first().waitFor()
    expect(await page.getByText('by the light client').count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Verify rows' }).check()
    await page.getByText(/Proven at block [0-9,]+ by the light client/).waitFor()
    await goTo(`validators/${owner}`)
    await page.getByText(/Proven at block [0-9,]+ by the light client/).waitFor()
    await shot('verified', true)
    await page.route('**/', async (route) => {
      const answer = await route.fetch()
      const text = await answer.text()
      const isBalance = route.request().postData()?.includes('svc_getBalance') === true
      await route.fulfill({
        response: answer,
        body: isBalance ? text.replace(/"result":"\d+"/, '"result":"1"') : text,
      })
    })
    await goTo(`accounts/${owner}`)
    await page.getByText(/What is proven at block [0-9,]+ is another value: balance \d{2,}/).waitFor()
    // What is on its way when the page closes is no failure.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(failures).toEqual([])
    await close()
  })
})
