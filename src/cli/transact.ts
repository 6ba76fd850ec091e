import { parseAddress } from '../base/address.ts'
import { fromBase64, fromUtf8, toBase64 } from '../base/bytes.ts'
import { isNodeError } from '../comet/errors.ts'
import { openNodeRpc } from '../comet/rpc.ts'
import { openTransport } from '../comet/transport.ts'
import { findKey, type KeyFile, listKeyFiles } from '../keys/files.ts'
import { openKeystore } from '../keys/keystore.ts'
import type { TxEntry } from '../modules/define.ts'
import { txHash } from '../tx/envelope.ts'
import { field } from '../tx/fields.ts'
import { uint } from '../values/number.ts'
import { type Signer, signerOfSeed } from '../tx/sign.ts'
import { asFailed, Failed, UserError } from './errors.ts'
import { remoteFrom } from './gatewayClient.ts'
import { type GatewayFlags, givenMembers, keystoreFrom, nodeUrl, readGiven, settingOf } from './options.ts'
import { answer, clean, fields, withProgress } from './output.ts'
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

interface Part {
  readonly code?: number
  readonly log?: string
  readonly gasUsed?: string
  readonly fee: { readonly value?: string }
  readonly data?: string
}

/** The interface's transaction result object. */
interface Result {
  readonly height: number
  readonly hash: string
  readonly check_tx: Part
  readonly deliver_tx: Part
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

const BAD_NONCE = 6

/**
 * Signs here and sends through the gateway, which waits for the block. A nonce that was used meanwhile is asked for
 * once more.
 */
async function sendSigned(signer: Signer, { entry, message, nonce }: Order, flags: TxFlags): Promise<Result> {
  const remote = remoteFrom(flags)
  const { chain_id: chainId } = (await remote.call('svc_status')) as { chain_id: string }
  const send = async (): Promise<Result> => {
    const next = nonce ?? ((await remote.call('svc_getTransactionCount', [signer.address, 'pending'])) as number)
    const bytes = signer.signTx({ chainId, nonce: next, operation: entry.operation, message })
    return (await remote.call('svc_sendRawTransaction', [toBase64(bytes)])) as Result
  }
  const result = await send()
  return nonce === undefined && result.check_tx.code === BAD_NONCE ? send() : result
}

interface Checked {
  readonly code: number
  readonly log: string
  readonly hash: string
}

/** Signs here and hands the bytes to the node itself: to be checked only, or sent without waiting. Throws a Failed. */
async function askNode(signer: Signer, { entry, message, nonce }: Order, flags: TxFlags): Promise<Checked> {
  const url = nodeUrl(flags)
  const rpc = openNodeRpc(url)
  const transport = openTransport(url, 10_000)
  try {
    const { chainId } = await rpc.status()
    const account = await rpc.abciQuery({ path: `/accounts/${signer.address}` })
    const next = nonce ?? (JSON.parse(fromUtf8(account.value) ?? '') as { nonce: number }).nonce
    const bytes = signer.signTx({ chainId, nonce: next, operation: entry.operation, message })
    if (flags.dryRun !== true) {
      const { code, log } = await rpc.broadcastTxSync(bytes)
      return { code, log, hash: txHash(bytes) }
    }
    const checked = (await transport.call('check_tx', { tx: toBase64(bytes) })) as {
      readonly code?: number
      readonly log?: string
    }
    return { code: checked.code ?? 0, log: checked.log ?? '', hash: txHash(bytes) }
  } catch (error) {
    if (!isNodeError(error)) throw error
    throw new Failed(`${error.message}; --dry-run and --no-wait need CometBFT's RPC: name it with --node URL`)
  } finally {
    rpc.close()
    transport.close()
  }
}

/** What deliver_tx.data carries, as people read it: a ProposalID as it is, a request id as its number. */
function returned({ returns }: TxEntry, data: string | undefined): Readonly<Record<string, string>> {
  if (returns === undefined || data === undefined) return {}
  return { [returns]: returns === 'ProposalID' ? data : (fromUtf8(fromBase64(data) ?? new Uint8Array()) ?? data) }
}

function report(words: string, entry: TxEntry, result: Result, json: boolean | undefined): number {
  const { code, log } = result.check_tx
  if (code !== undefined)
    throw new Failed(`${words} failed: code ${code}: ${clean(log ?? '')} (hash ${result.hash})`, result)
  const { gasUsed, fee, data } = result.deliver_tx
  answer(json, result, () =>
    fields({
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
    : (readGiven({ nonce: field(uint, 'nonce') }, { nonce: text })['nonce'] as number)
}

/**
 * Sends one transaction: signed here when the keystore holds the key of `--from`, else by the gateway. Resolves with 0;
 * throws a Failed with code and log for a transaction that the chain refuses, and a UserError for members that no
 * message can hold.
 */
export async function sendTx(entry: TxEntry, words: string, flags: TxFlags): Promise<number> {
  const from = settingOf(flags, flags.from, 'from')
  if (from === undefined) throw new UserError("--from: expected an address or a key's name")
  const given = givenMembers(entry.input, flags as unknown as Readonly<Record<string, unknown>>)
  const order: Order = { entry, given, message: readGiven(entry.input, given), nonce: readNonce(flags.nonce) }
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
    answer(flags.json, result, () =>
      fields({ result: flags.dryRun === true ? 'CheckTx would accept it; nothing was sent' : 'sent', hash }),
    )
    return 0
  }
  const members = { from, ...given, ...(order.nonce === undefined ? {} : { nonce: order.nonce }) }
  const work =
    key === undefined
      ? (remoteFrom(flags).call(entry.method, members) as Promise<Result>)
      : sendSigned(await signerFor(key, flags), order, flags)
  return report(words, entry, await withProgress('waiting for the block', work), flags.json)
}
