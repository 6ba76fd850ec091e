import { addressOf } from '../../base/address.ts'
import { txEntries } from '../../modules/registry.ts'
import { address, optional, uint } from '../../tx/members.ts'
import { RpcError } from '../errors.ts'
import { transactionResult } from '../schemas.ts'
import type { Method } from './define.ts'
import { transact } from './transact.ts'

type Entry = (typeof txEntries)[number]

const common = {
  from: { ...address(), doc: 'account that acts; the gateway must hold its key' },
  nonce: optional(uint('number of transactions made by the sender before this one')),
}

function operationMethod({ operation, method, doc, input, returns }: Entry): Method {
  return {
    name: method,
    doc,
    params: { form: 'object' },
    errors: ['noKey', 'nodeAway', 'notInBlock', 'mempoolFull', 'needsToken'],
    signs: true,
    input: { from: common.from, ...input, nonce: common.nonce },
    result: transactionResult(returns),
    run: async (services, given) => {
      const { from, nonce, ...message } = given
      const sender = addressOf(from as Uint8Array)
      const signer = services.signers.get(sender)
      if (signer === undefined) throw new RpcError('noKey', `the gateway has no key for ${sender}`, { from: sender })
      return transact(services, operation, () =>
        services.sender.submit(signer, { operation, message, nonce: nonce as number | undefined }),
      )
    },
  }
}

/** A method for each transaction type of the chain. Source: interface, Endpoints; protocol.md §10. */
export const operationMethods: readonly Method[] = txEntries.map(operationMethod)
