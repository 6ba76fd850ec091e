/** An ed25519 key pair: 32 bytes of public key; 64 bytes of secret key, which are the seed and the public key. */
export interface KeyPair {
  readonly publicKey: Uint8Array
  readonly secretKey: Uint8Array
}
