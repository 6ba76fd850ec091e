import { useState } from 'preact/hooks'
import { sentenceOf } from '../data/errors.ts'
import { svc } from '../data/gateway.ts'
import { refresh } from '../data/questions.ts'
import { useGatewayInfo } from '../data/useAnswer.ts'
import { useRun } from '../parts/useRun.ts'

/** Asks a devnet for tokens; nothing on any other chain. */
export function GetTokens({ address }: { readonly address: string }) {
  const { devnet } = useGatewayInfo()
  const [told, setTold] = useState<string>()
  const { isBusy, error, run } = useRun()
  if (!devnet) return null
  const ask = async (): Promise<void> => {
    setTold(undefined)
    const { height } = await svc.async.faucet(address)
    setTold(`The tokens came in block ${height}.`)
    refresh(`balance/${address}`)
  }
  return (
    <>
      <button type='button' disabled={isBusy} onClick={() => void run(ask)}>
        {isBusy ? 'Waiting for a block' : 'Get tokens'}
      </button>
      <span role='status'>{error === undefined ? told : sentenceOf(error)}</span>
    </>
  )
}
