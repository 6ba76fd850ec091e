/** Follows a chain: its height, and whether the gateway is there. Shows balances, and sends transfers that it signs. */
import { Svc, SvcRpcError, SvcTxError } from '@svcd/client'

const svc = new Svc('http://127.0.0.1:8545')
// For a devnet: the key is made here, stays in the memory of the page, and is gone with it.
const from = svc.accounts.add(crypto.getRandomValues(new Uint8Array(32)))

function show(id: string, text: string): void {
  const element = document.getElementById(id)
  // Screen readers speak when a line is written, also when its text is the same as before.
  if (element?.textContent !== text) element?.replaceChildren(text)
}

const isAway = (error: unknown): error is SvcRpcError => error instanceof SvcRpcError && error.code === 4900

/** Asks again each second for as long as the gateway is away. */
async function whenThere<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const answer = await ask()
      show('gateway', 'there')
      return answer
    } catch (error) {
      if (!isAway(error)) throw error
      show('gateway', `away (${error.reason})`)
      await new Promise((done) => setTimeout(done, 1000))
    }
  }
}

/** An error in words for the person at the page. */
function words(error: unknown): string {
  if (isAway(error)) return 'The gateway is away. Try again when it is there.'
  if (error instanceof SvcTxError) return `The chain refused it: ${error.log}`
  return error instanceof SvcRpcError ? error.reason : (error as Error).message
}

/** Calls `act` when a form is submitted, and shows below the form what it answers or what went wrong. */
function onSubmit(id: string, act: (typed: (name: string) => string) => Promise<string>): void {
  const form = document.forms.namedItem(id)
  form?.addEventListener('submit', async (event) => {
    event.preventDefault()
    // A double click must not pay twice.
    if (form.ariaBusy === 'true') return
    form.ariaBusy = 'true'
    show(`${id}-answer`, 'asking …')
    const fields = new FormData(form)
    show(`${id}-answer`, await act((name) => String(fields.get(name)).trim()).catch(words))
    form.ariaBusy = 'false'
  })
}

onSubmit('balance', async (typed) => `${Svc.toTokens(await svc.async.getBalance(typed('address')))} tokens`)

onSubmit('transfer', async (typed) => {
  const transfer = { from, to: typed('to'), value: Svc.fromTokens(typed('tokens')) }
  if ((await svc.async.getBalance(from)) === '0') await svc.async.faucet(from)
  const { hash, height } = await svc.async.transfer(transfer).catch((error: unknown) => {
    // With a hash the transaction may have arrived, though no answer came back: sent again, it might pay twice.
    const sent = error instanceof SvcRpcError ? (error.data as { hash?: string } | undefined)?.hash : undefined
    if (sent === undefined) throw error
    show('transfer-answer', `No answer came. Looking for transaction ${sent} …`)
    return whenThere(() => svc.async.waitForTx(sent))
  })
  return `Paid in block ${height}, by transaction ${hash}`
})

await whenThere(() =>
  svc.subscribe(
    'newBlock',
    { onState: (now) => show('gateway', now.state === 'lost' ? `away (${now.reason})` : 'there') },
    ({ height }) => show('height', String(height)),
  ),
).catch((error: unknown) => show('gateway', words(error)))
