import { createHash, generateKeyPairSync } from 'node:crypto'

/**
 * An ed25519 key: `pubKey` and `privKey` in base64 (32 bytes; 64 bytes, seed then public key), `address` 40 upper-case
 * hex digits.
 */
export type NodeKeyPair = { pubKey: string; privKey: string; address: string }

/**
 * CometBFT's address of an ed25519 key: the first 20 bytes of sha256(public key), upper-case hex. Source: protocol.md
 * §1.
 */
export const addressOfPubKey = (pubKeyBase64: string): string =>
  createHash('sha256').update(Buffer.from(pubKeyBase64, 'base64')).digest('hex').slice(0, 40).toUpperCase()

/** A fresh random ed25519 key from the operating system's randomness. */
export const newKeyPair = (): NodeKeyPair => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const pubKeyBytes = Buffer.from(jwk.x ?? '', 'base64url')
  const pubKey = pubKeyBytes.toString('base64')
  const privKey = Buffer.concat([Buffer.from(jwk.d ?? '', 'base64url'), pubKeyBytes]).toString('base64')
  return { pubKey, privKey, address: addressOfPubKey(pubKey) }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The text of `priv_validator_key.json` as CometBFT 0.37 to 0.40 reads it. Secret. */
export const validatorKeyFile = ({ pubKey, privKey, address }: NodeKeyPair): string =>
  json({
    address,
    pub_key: { type: 'tendermint/PubKeyEd25519', value: pubKey },
    priv_key: { type: 'tendermint/PrivKeyEd25519', value: privKey },
  })

/** The text of `node_key.json` as CometBFT 0.37 to 0.40 reads it. Secret: it is the node's name among its peers. */
export const nodeKeyFile = ({ privKey }: NodeKeyPair): string =>
  json({ priv_key: { type: 'tendermint/PrivKeyEd25519', value: privKey } })

/** The text of `priv_validator_state.json` for a key that has signed nothing yet. */
export const freshValidatorState = (): string => json({ height: '0', round: 0, step: 0 })
