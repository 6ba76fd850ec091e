import { field, optional } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { uint } from '../../../values/number.ts'
import { text } from '../../../values/text.ts'
import { oneOf } from '../fields.ts'
import { type Topic, TOPICS } from '../../feed/news.ts'
import { defineMethod, type Method } from './define.ts'

/** Subscriptions. They need a websocket, whose `subscriber` runs them. Source: protocol.md §10. */
export const subscribeMethods: readonly Method[] = [
  defineMethod({
    name: 'svc_subscribe',
    doc: 'On a websocket: sends each new block, transaction, or event of proposals or the validator set from now on.',
    input: {
      topic: oneOf('subscriptionTopic', TOPICS),
      address: optional(field(address, 'with tx: only transactions that concern this account')),
      from: optional(
        field(uint, 'the first height to tell of, at most 100 blocks back; the one after the head when left out'),
      ),
    },
    positional: 1,
    errors: ['methodNotFound'],
    needsSocket: true,
    hasOwnBounds: true,
    result: { type: 'string', pattern: '^0x[0-9a-f]+$' },
    run: async (_services, { topic, address: account, from }, { subscriber }) => {
      const interest = { topic: topic as Topic, address: account }
      return subscriber?.add(interest, from)
    },
  }),
  defineMethod({
    name: 'svc_unsubscribe',
    doc: 'On a websocket: ends a subscription; false when this websocket has none of that id.',
    input: { subscription: field(text, 'what svc_subscribe answered') },
    errors: ['methodNotFound'],
    needsSocket: true,
    hasOwnBounds: true,
    result: { type: 'boolean' },
    run: async (_services, { subscription }, { subscriber }) => subscriber?.remove(subscription),
  }),
]
