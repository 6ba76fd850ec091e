/** `svcd/client`: web3.svc for programs and pages. */
export { SvcProofError, SvcRpcError, SvcTxError } from './errors.ts'
export type {
  AsyncOperation,
  Callback,
  CallOptions,
  ErrorCallback,
  Operation,
  Sender,
  VerifyOptions,
  WaitOptions,
} from './types.ts'
export type { Shortfall } from '../base/txError.ts'
export type { CheckTx, DeliverTx, TransactionResult } from '../tx/result.ts'
export type { AnySigner, KeySigner } from '../tx/sign.ts'
export type { Multisig } from '../tx/multisig.ts'
export {
  type Eip1193Provider,
  type EthersSigner,
  ethersSigner,
  multisigSigner,
  providerSigner,
  type ViemAccount,
  viemSigner,
} from './signers.ts'
export { ed25519Signer, type LocalAccounts } from './accounts.ts'
export type { Target } from './transport.ts'
export { type Subscribe, Svc, type SvcAsync, type SvcConstructor, type SvcVerified } from './svc.ts'
export type { SubscribeOptions, Connection, SvcSubscription, SvcTopics } from './subscribe.ts'
export type { VerifiedDelegation } from './light/proveDelegations.ts'
export type { VerifiedHeader, VerifiedRow } from './light/proveRow.ts'
export type * from './gen/calls.ts'
