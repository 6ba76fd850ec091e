import { parseAddress } from '../base/address.ts'
import { fromBase64, fromUtf8, toBase64 } from '../base/bytes.ts'
import { isNodeError } from '../comet/errors.ts'
import { openNodeRpc } from '../comet/rpc.ts'
import { findKey, type KeyFile, listKeyFiles } from '../keys/files.ts'
import { openKeystore } from '../keys/keystore.ts'
import type { TxEntry } from '../modules/define.ts'
import { BAD_NONCE_CODE } from '../modules/errors.ts'
import { txHash } from '../tx/envelope.ts'
import { field } from '../tx/fields.ts'
import { createNonceQueue, decodeNonce, type Sent } from '../tx/nonceQueue.ts'
import type { TransactionResult } from '../tx/result.ts'
import { uint } from '../values/number.ts'
import { type Signer, signerOfSeed } from '../tx/sign.ts'
import { asFailed, Failed, UserError } from './errors.ts'
import { remoteFrom } from './gatewayClient.ts'
import { type GatewayFlags, fieldsFromFlags, keystoreFrom, nodeUrl, parseFields, settingOf } from './options.ts'
import { printAnswer, clean, formatFields, withProgress } from './output.ts'
import { passwordFile, readSecret } from './secrets.ts'

/** What `svcd tx` is told beside the members of the operation. */
export interface TxFlags extends GatewayFlags {
  readonly from?: string
  readonly nonce?: string
  readonly keystore?: string
  readonly passwordFile?: string
  readonly node?: string
  readonly wait: boolean
  readonly dryRun?: boolean
}

/** What is sent: a checked message, its JSON, and the nonce when one was given. */
interface Order {
  readonly entry: TxEntry
  readonly given: Readonly<Record<string, unknown>>
  readonly message: Readonly<Record<string, unknown>>
  readonly nonce: number | undefined
}

/**
 * The key of `from` in the keystore; undefined for an address that it has none of. Throws a Failed for a name it does
 * not have.
 */
function keyOf(folder: string, from: string): KeyFile | undefined {
  const address = parseAddress(from)
  if (address === undefined) return asFailed(() => findKey(folder, from))
  return listKeyFiles(folder).find((one): one is KeyFile => 'keystore' in one && one.keystore.address === address)
}

async function signerFor(key: KeyFile, flags: TxFlags): Promise<Signer> {
  const password = await readSecret({
    what: `password of ${key.name}`,
    file: passwordFile(flags.passwordFile),
    flag: '--password-file',
  })
  return signerOfSeed(asFailed(() => openKeystore(key.keystore, password)))
}

/**
 * Signs and sends one transaction with the nonce that was given, or else with the next one. A transaction whose nonce
 * somebody else has used meanwhile is signed again.
 */
function signAndSend<R>(
  signer: Signer,
  { entry, message, nonce: given }: Order,
  chain: {
    readonly chainId: string
    readonly readNonce: () => Promise<number>
    readonly send: (bytes: Uint8Array, isFixed: boolean) => Promise<Sent<R>>
  },
): Promise<R> {
  const { chainId, readNonce, send } = chain
  const queue = createNonceQueue<typeof message, R>({
    readNonce,
    send: (batch) =>
      Promise.all(
        batch.map(({ tx, nonce, isFixed }) =>
          send(signer.signTx({ chainId, nonce, operation: entry.operation, message: tx }), isFixed),
        ),
      ),
    batchMax: 1,
  })
  return queue.submit(message, { nonce: given })
}

/** Signs here and sends through the gateway, which waits for the block. */
async function sendSigned(signer: Signer, order: Order, flags: TxFlags): Promise<TransactionResult> {
  const remote = remoteFrom(flags)
  const sendRaw = async (params: unknown): Promise<TransactionResult> =>
    (await remote.call('svc_sendRawTransaction', params)) as TransactionResult
  const { chain_id: chainId } = (await remote.call('svc_status')) as { chain_id: string }
  const sent = await signAndSend<TransactionResult | { readonly bytes: string }>(signer, order, {
    chainId,
    readNonce: async () => (await remote.call('svc_getTransactionCount', [signer.address, 'pending'])) as number,
    send: async (raw, isFixed) => {
      const bytes = toBase64(raw)
      const { expected_nonce: expected, known, ...result } = await sendRaw({ transaction: bytes, wait: false })
      if (known === true && !isFixed) return { state: 'taken' }
      if (expected !== undefined) return { state: 'badNonce', result, expected }
      if (result.check_tx.code !== undefined) return { state: 'refused', result }
      return { state: 'accepted', result: { bytes }, ended: async () => undefined }
    },
  })
  // The gateway answers bytes that it knows with the block that holds them.
  return 'bytes' in sent ? sendRaw([sent.bytes]) : sent
}

interface Checked {
  readonly code: number
  readonly log: string
  readonly hash: string
}

/** Signs here and hands the bytes to the node itself: to be checked only, or sent without waiting. Throws a Failed. */
async function askNode(signer: Signer, order: Order, flags: TxFlags): Promise<Checked> {
  const url = nodeUrl(flags)
  const rpc = openNodeRpc(url)
  const check = flags.dryRun === true ? rpc.checkTx : rpc.broadcastTxSync
  try {
    const { chainId } = await rpc.status()
    return await signAndSend<Checked>(signer, order, {
      chainId,
      readNonce: async () => {
        const account = await rpc.abciQuery({ path: `/accounts/${signer.address}` })
        return (JSON.parse(fromUtf8(account.value) ?? '') as { nonce: number }).nonce
      },
      send: async (bytes) => {
        const { code, log, data } = await check(bytes)
        const result = { code, log, hash: txHash(bytes) }
        if (code === BAD_NONCE_CODE) return { state: 'badNonce', result, expected: decodeNonce(data) }
        return { state: 'refused', result }
      },
    })
  } catch (error) {
    if (!isNodeError(error)) throw error
    throw new Failed(`${error.message}; --dry-run and --no-wait need CometBFT's RPC: name it with --node URL`)
  } finally {
    rpc.close()
  }
}

/** What deliver_tx.data carries, as people read it: a ProposalID as it is, a request id as its number. */
function returned({ returns }: TxEntry, data: string | undefined): Readonly<Record<string, string>> {
  if (returns === undefined || data === undefined) return {}
  return { [returns]: returns === 'ProposalID' ? data : (fromUtf8(fromBase64(data) ?? new Uint8Array()) ?? data) }
}

function report(words: string, entry: TxEntry, result: TransactionResult, json: boolean | undefined): number {
  const { code, log } = result.check_tx
  if (code !== undefined)
    throw new Failed(`${words} failed: code ${code}: ${clean(log ?? '')} (hash ${result.hash})`, result)
  const { gasUsed, fee, data } = result.deliver_tx
  printAnswer(json, result, () =>
    formatFields({
      result: 'ok',
      height: result.height,
      hash: result.hash,
      ...(gasUsed === undefined ? {} : { gas: gasUsed, fee: `${fee.value ?? '0'} units` }),
      ...returned(entry, data),
    }),
  )
  return 0
}

function readNonce(text: string | undefined): number | undefined {
  return text === undefined
    ? undefined
    : (parseFields({ nonce: field(uint, 'nonce') }, { nonce: text })['nonce'] as number)
}

/**
 * Sends one transaction: signed here when the keystore holds the key of `--from`, else by the gateway. Resolves with 0;
 * throws a Failed with code and log for a transaction that the chain refuses, and a UserError for members that no
 * message can hold.
 */
export async function sendTx(entry: TxEntry, words: string, flags: TxFlags): Promise<number> {
  const from = settingOf(flags, flags.from, 'from')
  if (from === undefined) throw new UserError("--from: expected an address or a key's name")
  const given = fieldsFromFlags(entry.input, flags as unknown as Readonly<Record<string, unknown>>)
  const order: Order = { entry, given, message: parseFields(entry.input, given), nonce: readNonce(flags.nonce) }
  const key = keyOf(keystoreFrom(flags), from)
  const straight = flags.dryRun === true || !flags.wait
  if (key === undefined && straight) {
    throw new UserError(
      '--dry-run and --no-wait sign here and ask the node itself: --from must be a key of the keystore (svcd keys list)',
    )
  }
  if (key !== undefined && straight) {
    const { code, log, hash } = await askNode(await signerFor(key, flags), order, flags)
    const result = { code, log, hash, [flags.dryRun === true ? 'checked' : 'sent']: true }
    if (code !== 0) throw new Failed(`${words} failed: code ${code}: ${clean(log)} (hash ${hash})`, result)
    printAnswer(flags.json, result, () =>
      formatFields({ result: flags.dryRun === true ? 'CheckTx would accept it; nothing was sent' : 'sent', hash }),
    )
    return 0
  }
  const members = { from, ...given, ...(order.nonce === undefined ? {} : { nonce: order.nonce }) }
  const work =
    key === undefined
      ? (remoteFrom(flags).call(entry.method, members) as Promise<TransactionResult>)
      : sendSigned(await signerFor(key, flags), order, flags)
  return report(words, entry, await withProgress('waiting for the block', work), flags.json)
}
