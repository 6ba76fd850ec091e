import { beforeAll, expect, test } from '@jest/globals'
import { Svc } from '../../../src/client/index.ts'
import { devnetPages, withBrowser } from '../support/page.ts'

// What a stranger may write, each as long as its field takes. A page that lets any of it become markup sets `hacked`.
const MARKUP =
  '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>{{constructor.constructor("hacked=1")()}}'
const RIGHT_TO_LEFT = '\u202Etxet desrever\u2067 \u200F'
const DESCRIPTION = {
  name: `${MARKUP}`.slice(0, 128),
  website: 'javascript:globalThis.hacked=1//https://example.com',
  location: `${RIGHT_TO_LEFT}Lisbon`,
  email: '"><svg onload=globalThis.hacked=1>@example.com',
  profile: `${MARKUP}\n${RIGHT_TO_LEFT}\n`.padEnd(2000, 'm'),
}

/** What markup would have made. */
const MADE = 'main img, main svg[onload], main script, main iframe, [onerror], a[href^="javascript" i]'

withBrowser('what strangers write', () => {
  const site = devnetPages()
  let validator: string
  let views: readonly string[]

  beforeAll(async () => {
    const svc = new Svc(site.net.url)
    validator = site.net.accounts[0].address
    const payee = site.net.accounts[1]?.address ?? ''
    await svc.async.stake.validator.update({ from: validator, description: DESCRIPTION })
    const reason = `${MARKUP} ${RIGHT_TO_LEFT}`.padEnd(2048, 'r').slice(0, 2000)
    const urls = { ubuntu: ['https://example.com/"><img/src=x/onerror=globalThis.hacked=1>'] }
    const proposals = [
      await svc.async.governance.proposeChangeParam({ from: validator, name: 'max_vals', value: '7', reason }),
      await svc.async.governance.proposeDeployLibEni({
        from: validator,
        name: 'hostile',
        version: 'v1.0.0',
        fileUrl: JSON.stringify(urls),
        md5: JSON.stringify({ ubuntu: '0'.repeat(32) }),
        reason,
      }),
      await svc.async.governance.proposeTransferFund({
        from: validator,
        transferFrom: validator,
        transferTo: payee,
        amount: 1n,
        reason,
      }),
    ]
    const ids = proposals.map(({ deliver_tx: { data = '' } }) => data.replaceAll('+', '-').replaceAll('/', '_'))
    views = [
      '',
      'validators',
      `validators/${validator}`,
      'proposals',
      ...ids.map((id) => `proposals/${id}`),
      'proposals/new',
      'parameters',
      'blocks',
      `blocks/${proposals[0]?.height}`,
      'transactions',
      ...proposals.map(({ hash }) => `transactions/${hash}`),
      `accounts/${validator}`,
      `search/${encodeURIComponent(MARKUP)}`,
      encodeURIComponent(MARKUP),
      `validators/${encodeURIComponent(MARKUP)}`,
    ]
  })

  test('shows as text in every view, none is wider than a phone, and the policy of the page has nothing to refuse', async () => {
    const { page, goTo, settled } = await site.open('', { viewport: { width: 390, height: 800 } })
    for (const view of views) {
      await goTo(view)
      await settled()
      const found = await page.evaluate(`({
        hacked: 'hacked' in globalThis,
        made: document.querySelectorAll('${MADE}').length,
        width: document.documentElement.scrollWidth,
      })`)
      expect([view, found]).toEqual([view, { hacked: false, made: 0, width: 390 }])
    }
    await goTo(`validators/${validator}`)
    await page.getByText('javascript:globalThis.hacked=1', { exact: false }).first().waitFor()
  })
})
