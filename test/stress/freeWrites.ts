import type { Target } from '../../bench/load/job.ts'

async function ask<T>({ host, port }: Target, path: string): Promise<T> {
  const { result } = (await (await fetch(`http://${host}:${port}${path}`)).json()) as { result: T }
  return result
}

/** The height of the newest block. */
export const headOf = async (rpc: Target): Promise<number> =>
  Number((await ask<{ sync_info: { latest_block_height: string } }>(rpc, '/status')).sync_info.latest_block_height)

/** How many transactions of the blocks above `from`, up to `to`, succeeded without a fee. */
export async function freeWrites(rpc: Target, from: number, to: number): Promise<number> {
  let free = 0
  for (let height = from + 1; height <= to; height++) {
    const { txs_results: results } = await ask<{
      txs_results: readonly { readonly code: number; readonly gas_used: string }[] | null
    }>(rpc, `/block_results?height=${height}`)
    free += (results ?? []).filter(({ code, gas_used: gas }) => code === 0 && gas === '0').length
  }
  return free
}
