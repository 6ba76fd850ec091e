/** Apart from pubKey.ts, which is in the browser's client: that has no need of shapes. */
import { type PubKey, pubKey } from './pubKey.ts'
import { record, type Shape } from './shape.ts'
import { text } from './text.ts'

const members = record('PubKeyObject', { type: text, value: pubKey })
/** A public key as CometBFT's JSON has it. */
export const pubKeyObject: Shape<PubKey> = {
  schema: members.schema,
  toJson: (value) => members.toJson({ type: 'tendermint/PubKeyEd25519', value }),
}
