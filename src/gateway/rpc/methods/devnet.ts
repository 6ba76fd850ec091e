import { setTimeout as sleep } from 'node:timers/promises'
import { field, optional } from '../../../tx/fields.ts'
import { TOKEN } from '../../../base/amount.ts'
import { transactionResultSchema } from '../../../tx/result.ts'
import { address, addressBytes } from '../../../values/address.ts'
import { uint } from '../../../values/number.ts'
import { RpcError } from '../errors.ts'
import { resultOf } from '../result.ts'
import { FAUCET_TOKENS, MINE_BLOCKS_MAX, MINE_MS_MAX } from '../../http/limits.ts'
import { defineMethod, type Method } from './define.ts'
import { outcomeOf } from './transactions.ts'

const LOOK_MS = 5

/** What only the gateway of a devnet answers. */
export const devnetMethods: readonly Method[] = [
  defineMethod({
    name: 'svc_mine',
    doc: 'Makes blocks at once and answers with the height of the head. Only on a devnet that was started with --block-time 0.',
    input: { blocks: optional(field(uint, `how many blocks, 1 to ${MINE_BLOCKS_MAX}; 1 when left out`)) },
    errors: ['methodNotFound', 'nodeAway'],
    hasOwnBounds: true,
    result: { type: 'integer' },
    run: async ({ chain, propose, isClosing }, { blocks = 1 }) => {
      if (propose === undefined)
        throw new RpcError(
          'methodNotFound',
          'svc_mine: only a devnet that was started with --block-time 0 mines blocks',
        )
      if (blocks < 1 || blocks > MINE_BLOCKS_MAX)
        throw new RpcError(
          'invalidParams',
          `blocks: expected a whole number from 1 to ${MINE_BLOCKS_MAX}, got ${blocks}`,
        )
      await chain.needReady()
      const target = propose(chain.feed.head(), blocks)
      const deadline = performance.now() + MINE_MS_MAX
      while (chain.feed.head() < target) {
        if (isClosing()) throw new RpcError('nodeAway', `the gateway closes, and block ${target} is not made`)
        if (performance.now() > deadline)
          throw new RpcError('nodeAway', `block ${target} was not made within ${MINE_MS_MAX / 1000} s`)
        await sleep(LOOK_MS)
      }
      return chain.feed.head()
    },
  }),
  defineMethod({
    name: 'svc_faucet',
    doc: `Sends ${FAUCET_TOKENS} tokens to an account. Only on a devnet whose keys are public.`,
    input: { to: field(address, 'account that gets the tokens') },
    errors: ['methodNotFound', 'nodeAway', 'notInBlock', 'mempoolFull', 'needsToken'],
    signs: true,
    hasOwnBounds: true,
    result: transactionResultSchema(),
    run: async (services, { to }, caller) => {
      const { faucet, sender, chain } = services
      if (faucet === undefined)
        throw new RpcError('methodNotFound', 'svc_faucet: only a devnet whose keys are public gives tokens away')
      faucet.admit(caller.address, to)
      const message = { to: addressBytes(to), value: (BigInt(FAUCET_TOKENS) * TOKEN).toString() }
      const sending = sender.submit(faucet.payer, { operation: 'transfer', message, nonce: undefined })
      return resultOf(chain, await outcomeOf(services, 'transfer', sending))
    },
  }),
]
