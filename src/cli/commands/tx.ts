import { type Command, Option } from 'commander'
import { type Address, addressBytes, addressOf, parseAddress } from '../../values/address.ts'
import { fromBase64, fromUtf8, toBase64 } from '../../base/bytes.ts'
import type { Shortfall } from '../../base/txError.ts'
import { finalAnswer } from '../../client/accountSender.ts'
import { isUnclear } from '../../client/errors.ts'
import { isNodeError } from '../../comet/errors.ts'
import { openNodeRpc } from '../../comet/rpc.ts'
import { addressOfFile, findAccount, findAccountOf, type KeyFile, type MultisigFile } from '../../keys/files.ts'
import type { TxEntry } from '../../modules/define.ts'
import { txEntries, txEntryOf } from '../../modules/registry.ts'
import { txHash } from '../../tx/envelope.ts'
import { field } from '../../tx/fields.ts'
import { BAD_NONCE_CODE, createNonceQueue, decodeNonce, NONCES_OF_TX_MAX, type Sent } from '../../tx/nonceQueue.ts'
import type { TransactionResult } from '../../tx/result.ts'
import { decodeShortfall } from '../../tx/shortfall.ts'
import type { Signer } from '../../tx/sign.ts'
import { whyUnsignable } from '../../tx/signers/index.ts'
import { uint } from '../../values/number.ts'
import { printTokens } from '../amounts.ts'
import { Failed, UserError } from '../../node/errors.ts'
import { finished, printTypedData, readDraft, refuseMultisig, signFile, signOptions, writeUnsigned } from '../drafts.ts'
import { gatewayFrom } from '../gatewayClient.ts'
import { askSigner } from '../keySigner.ts'
import {
  type Configure,
  assertNothingMissing,
  exampleOptions,
  exampleSender,
  fieldOptions,
  fieldsFromFlags,
  type FlagsOf,
  type GatewayFlags,
  gatewayOptions,
  kebab,
  missingFields,
  keystoreFrom,
  keystoreOption,
  nodeOption,
  nodeUrl,
  option,
  parseFields,
  passwordOption,
  refuseBeside,
  settingOf,
  subcommand,
  withOptions,
} from '../options.ts'
import { formatFields, printAnswer, withProgress } from '../output.ts'
import { printable } from '../../base/printable.ts'

const sendOptions = [...gatewayOptions, keystoreOption] as const

const options = [
  ...sendOptions,
  option('--from <account>', 'sender: a key by name or address, else an account for which the gateway signs', {
    env: 'SVCD_FROM',
  }),
  option('--nonce <number>', 'nonce of the transaction: how many the sender made before it (default: the next one)', {
    parse: (nonce) => parseFields({ nonce: field(uint, 'nonce') }, { nonce })['nonce'] as number,
  }),
  passwordOption,
  nodeOption,
  option('--chain-id <id>', 'sign for this chain only (default: the chain that the gateway or node names)', {
    env: 'SVCD_CHAIN_ID',
  }),
  option('--unsigned <file>', 'write the transaction to this file, or to stdout for -, to be signed by svcd tx sign'),
  option('--typed-data', 'only print the EIP-712 typed data that a wallet of Ethereum would sign'),
  option('--dry-run', 'only let --node check the transaction; until its next block the node counts the nonce as used'),
] as const

const waitOptions = [
  new Option('--wait', 'wait for the block of the transaction').default(true),
  new Option('--no-wait', 'end as soon as --node, to which it is sent directly, has accepted the transaction'),
]

type Flags = FlagsOf<typeof options> & { readonly wait: boolean }

/** A transaction to be sent: its type, its fields, and the nonce when one was given. */
interface UnsignedTx {
  readonly entry: TxEntry
  readonly message: Readonly<Record<string, unknown>>
  readonly nonce: number | undefined
}

/**
 * The account of `from` in the keystore; undefined for an address that it has none of. Throws a KeystoreError for a name
 * it does not have.
 */
function accountOf(folder: string, from: string): KeyFile | MultisigFile | undefined {
  const address = parseAddress(from)
  if (address === undefined) return findAccount(folder, from)
  return findAccountOf(folder, address)
}

const chainIdOf = async (flags: GatewayFlags): Promise<string> =>
  ((await gatewayFrom(flags).call('svc_status')) as { chain_id: string }).chain_id

/** The chain to sign for, which whoever is asked has named. Throws a UserError when --chain-id is another. */
function chainToSign({ chainId = '' }: Flags, named: string, who: string): string {
  if (chainId === '' || chainId === named) return named
  throw new UserError(`--chain-id: expected ${named}, the chain of the ${who}, got ${chainId}`)
}

const pendingNonce = async (flags: Flags, address: Address): Promise<number> =>
  (await gatewayFrom(flags).call('svc_getTransactionCount', [address, 'pending'])) as number

const chainOfGateway = async (flags: Flags): Promise<string> => chainToSign(flags, await chainIdOf(flags), 'gateway')

/**
 * Writes or prints a transaction for others to sign, instead of sending it. Its chain is that of the gateway, and so is
 * the nonce unless it was given.
 */
async function handOut(file: KeyFile | MultisigFile | undefined, from: string, tx: UnsignedTx, flags: Flags) {
  const address = (file === undefined ? parseAddress(from) : addressOfFile(file)) as Address
  const { entry, message } = tx
  const chainId = await chainOfGateway(flags)
  const nonce = tx.nonce ?? (await pendingNonce(flags, address))
  const body = { chainId, from: addressBytes(address), nonce, operation: entry.operation, message }
  if (flags.typedData === true) return printTypedData(body)
  writeUnsigned(flags.unsigned as string, body, file !== undefined && 'account' in file ? file.account : undefined)
}

/**
 * Signs and sends one transaction with the nonce that was given, or else with the next one. A transaction whose nonce
 * somebody else has used meanwhile is signed again.
 */
function signAndSend<R>(
  signer: Signer,
  { entry, message, nonce: given }: UnsignedTx,
  chain: {
    readonly chainId: string
    readonly readNonce: () => Promise<number>
    readonly send: (bytes: Uint8Array) => Promise<Sent<R>>
  },
): Promise<R> {
  const { chainId, readNonce, send } = chain
  const why = whyUnsignable(signer, entry.input, message)
  if (why !== undefined) throw new Failed(`the chain would refuse this transaction: ${why}`)
  const queue = createNonceQueue<typeof message, R>({
    readNonce,
    send: (batch) =>
      Promise.all(
        batch.map(({ tx, nonce }) => send(signer.signTx({ chainId, nonce, operation: entry.operation, message: tx }))),
      ),
    batchMax: 1,
    noncesMax: NONCES_OF_TX_MAX,
  })
  return queue.submit(message, { nonce: given })
}

/**
 * The failure of a call that may have sent its transaction. The hash is part of it, because a user who repeats the command
 * signs another transaction, with the next nonce, and may pay twice.
 */
const unclear = ({ message, answer }: Failed, hash: string): Failed =>
  new Failed(
    `${message}. The transaction ${hash} may have been sent, and may be in a block: before you send it again, look for it ` +
      `with svcd query transaction ${hash}`,
    { ...(answer as object), hash },
  )

/** Signs here and sends through the gateway, which waits for the block. */
async function sendSigned(signer: Signer, tx: UnsignedTx, flags: Flags): Promise<TransactionResult> {
  const gateway = gatewayFrom(flags)
  const sendRaw = async (params: unknown, hash: string, isTaken = false): Promise<TransactionResult> => {
    try {
      return (await gateway.call('svc_sendRawTransaction', params)) as TransactionResult
    } catch (error) {
      const isLost =
        error instanceof Failed && (isTaken || isUnclear((error.answer as { readonly error: unknown }).error))
      throw isLost ? unclear(error, hash) : error
    }
  }
  const chainId = await chainOfGateway(flags)
  const sent = await signAndSend<TransactionResult | { readonly bytes: string; readonly hash: string }>(signer, tx, {
    chainId,
    readNonce: () => pendingNonce(flags, signer.address),
    send: async (raw) => {
      const [bytes, hash] = [toBase64(raw), txHash(raw)]
      const { expected_nonce: expected, known: _, ...result } = await sendRaw({ transaction: bytes, wait: false }, hash)
      if (expected !== undefined) return { state: 'badNonce', result, expected }
      if (result.check_tx.code !== undefined) return { state: 'refused', result }
      return { state: 'accepted', result: { bytes, hash }, ended: async () => undefined }
    },
  })
  if (!('bytes' in sent)) return sent
  // The gateway answers bytes that it knows with the block that holds them.
  const answer = await finalAnswer(() =>
    sendRaw([sent.bytes], sent.hash, true).then(
      (result) => ({ result }),
      (failed: Failed) => ({ error: (failed.answer as { readonly error: unknown } | undefined)?.error, failed }),
    ),
  )
  if ('failed' in answer) throw answer.failed
  return answer.result
}

/** What the node itself says of a transaction after CheckTx. */
interface NodeVerdict {
  readonly code: number
  readonly log: string
  readonly hash: string
}

/** Signs here and hands the bytes to the node itself: to be checked only, or sent without waiting. Throws a Failed. */
async function askNode(signer: Signer, tx: UnsignedTx, flags: Flags) {
  const rpc = openNodeRpc(nodeUrl(flags))
  const check = flags.dryRun === true ? rpc.checkTx : rpc.broadcastTxSync
  let sent: string | undefined
  try {
    const chainId = chainToSign(flags, (await rpc.status()).chainId, 'node')
    return await signAndSend<NodeVerdict & { readonly shortfall: Shortfall | undefined }>(signer, tx, {
      chainId,
      readNonce: async () => {
        const account = await rpc.abciQuery({ path: `/accounts/${signer.address}` })
        return (JSON.parse(fromUtf8(account.value) ?? '') as { nonce: number }).nonce
      },
      send: async (bytes) => {
        sent = flags.dryRun === true ? undefined : txHash(bytes)
        const answer = await check(bytes)
        const { code, log, data } = answer
        const isResent = 'isResent' in answer && answer.isResent
        const shortfall = decodeShortfall(fromUtf8(data) ?? '')
        const result = { code, log, hash: txHash(bytes), shortfall }
        // After a broken connection the same bytes may have used the nonce up.
        if (code === BAD_NONCE_CODE && !isResent) return { state: 'badNonce', result, expected: decodeNonce(data) }
        return { state: 'refused', result }
      },
    })
  } catch (error) {
    if (!isNodeError(error)) throw error
    const failed = new Failed(`${error.message}; --dry-run and --no-wait need CometBFT's RPC: name it with --node URL`)
    const isRefused = isNodeError(error, 'MempoolFull') || isNodeError(error, 'TxTooLarge')
    throw sent === undefined || isRefused ? failed : unclear(failed, sent)
  } finally {
    rpc.close()
  }
}

/** What deliver_tx.data carries, as people read it: a ProposalID as it is, a request id as its number. */
function returned({ returns }: TxEntry, data: string | undefined): Readonly<Record<string, string>> {
  if (returns === undefined || data === undefined) return {}
  return { [returns]: returns === 'ProposalID' ? data : (fromUtf8(fromBase64(data) ?? new Uint8Array()) ?? data) }
}

/** The failure of a transaction. What a balance lacked for it stands on a line of its own. */
function refusal(words: string, verdict: NodeVerdict, shortfall: Shortfall | undefined, result: object): Failed {
  const message = `${words} failed: code ${verdict.code}: ${printable(verdict.log)} (hash ${verdict.hash})`
  if (shortfall === undefined) return new Failed(message, result)
  const { account, needed, fee, available } = shortfall
  const [all, part, balance] = [needed, fee, available].map(printTokens)
  const withFee = fee === '0' ? '' : `, with a fee of ${part}`
  return new Failed(`${message}\nneeded: ${all}${withFee}; the balance of ${account} is ${balance}`, {
    ...result,
    shortfall,
  })
}

/** What a declaration has staked, which its result does not say. Nothing where the gateway does not tell. */
async function stakedBy(sender: string, { operation }: TxEntry, flags: GatewayFlags): Promise<object> {
  if (operation !== 'declareCandidacy' || flags.json === true) return {}
  const asked = gatewayFrom(flags).call('svc_queryValidator', [sender])
  const { data } = (await asked.catch(() => ({}))) as {
    readonly data?: { readonly shares: string; readonly max_shares: string } | null
  }
  if (!data) return {}
  const [shares, most] = [data.shares, data.max_shares].map(printTokens)
  return { staked: `${shares}; the candidacy may grow to ${most}` }
}

async function printResult(
  words: string,
  entry: TxEntry,
  sender: string,
  result: TransactionResult,
  flags: GatewayFlags,
): Promise<void> {
  const { code, log = '' } = result.check_tx
  const { hash } = result
  if (code !== undefined) {
    const shortfall = await gatewayFrom(flags)
      .call('svc_getShortfall', [hash])
      .catch(() => null)
    throw refusal(words, { code, log, hash }, (shortfall ?? undefined) as Shortfall | undefined, result)
  }
  const { gasUsed, fee, data } = result.deliver_tx
  const staked = await stakedBy(sender, entry, flags)
  printAnswer(flags.json, result, () =>
    formatFields({
      result: 'ok',
      height: result.height,
      hash,
      ...(gasUsed === undefined ? {} : { gas: gasUsed, fee: printTokens(fee.value ?? '0') }),
      ...staked,
      ...returned(entry, data),
    }),
  )
}

/** Has the node itself check a transaction that is signed here, or take it without waiting for its block. */
async function sendToNode(words: string, key: KeyFile | undefined, tx: UnsignedTx, flags: Flags): Promise<void> {
  if (key === undefined) {
    throw new UserError(
      '--dry-run and --no-wait sign here and ask the node itself: --from must be a key of the keystore (svcd keys list)',
    )
  }
  const { shortfall, ...verdict } = await askNode(await askSigner(key, flags.passwordFile), tx, flags)
  const isDry = flags.dryRun === true
  const result = { ...verdict, [isDry ? 'checked' : 'sent']: true }
  if (verdict.code !== 0) throw refusal(words, verdict, shortfall, result)
  printAnswer(flags.json, result, () =>
    formatFields({ result: isDry ? 'CheckTx would accept it; nothing was sent' : 'sent', hash: verdict.hash }),
  )
}

/**
 * Sends one transaction: signed here when the keystore holds the key of `--from`, else by the gateway. Throws a Failed
 * with code and log for a transaction that the chain refuses, and a UserError for fields that no message can hold.
 */
async function sendTx(entry: TxEntry, words: string, flags: Flags): Promise<void> {
  const { nonce, typedData, dryRun, wait } = flags
  const sending = { typedData, dryRun, noWait: wait ? undefined : true }
  if (flags.unsigned !== undefined) refuseBeside('unsigned', ['typedData', 'dryRun', 'noWait'], sending)
  if (typedData === true) refuseBeside('typed-data', ['dryRun', 'noWait'], sending)
  const from = settingOf(flags, 'from') ?? ''
  const given = fieldsFromFlags(entry.input, flags)
  const noSender = from === '' ? [{ flag: '--from', meaning: "the sender, an address or a key's name" }] : []
  assertNothingMissing([...noSender, ...missingFields(entry.input, given)])
  const tx: UnsignedTx = { entry, message: parseFields(entry.input, given), nonce }
  const account = accountOf(keystoreFrom(flags), from)
  if (flags.unsigned !== undefined || typedData === true) return handOut(account, from, tx, flags)
  if (account !== undefined && 'account' in account) return refuseMultisig(account)
  const key = account
  if (dryRun === true || !wait) return sendToNode(words, key, tx, flags)
  const params = { from, ...given, ...(nonce === undefined ? {} : { nonce }) }
  if (key === undefined && flags.chainId !== undefined) await chainOfGateway(flags)
  const work =
    key === undefined
      ? (gatewayFrom(flags).call(entry.method, params) as Promise<TransactionResult>)
      : sendSigned(await askSigner(key, flags.passwordFile), tx, flags)
  const sender = key?.keystore.address ?? from
  await printResult(words, entry, sender, await withProgress('waiting for the block', work), flags)
}

/**
 * Commands that say more than the client's function, by operation. Beside `stake withdraw`, which ends a candidacy, a
 * `withdraw` of a delegation would be mistaken for it.
 */
const OWN_WORDS: Readonly<Record<string, readonly string[]>> = {
  delegate: ['stake', 'delegate'],
  withdraw: ['stake', 'undelegate'],
}

/** The command of an operation: `stake.validator.declare` is `stake declare`. */
const wordsOf = ({ operation, call }: TxEntry): readonly string[] =>
  OWN_WORDS[operation] ??
  call
    .split('.')
    .filter((word) => word !== 'validator')
    .map(kebab)

const exampleOf = (entry: TxEntry): string =>
  ['svcd tx', ...wordsOf(entry), '--from', exampleSender(entry), exampleOptions(entry.operation, entry.input)]
    .join(' ')
    .trimEnd()

function configureOne(command: Command, entry: TxEntry): void {
  const { doc, returns, input } = entry
  const words = wordsOf(entry).join(' ')
  command.description(`${doc}${returns === undefined ? '' : ` Returns the ${returns}.`}`)
  withOptions(command, exampleOf(entry), [...fieldOptions(input), ...options, ...waitOptions]).action((flags: Flags) =>
    sendTx(entry, words, flags),
  )
}

async function sendFile(path: string, flags: FlagsOf<typeof sendOptions>): Promise<void> {
  const draft = readDraft(path)
  const entry = txEntryOf.get(draft.body.operation) as TxEntry
  const transaction = toBase64(finished(draft, await chainIdOf(flags), keystoreFrom(flags)))
  const work = gatewayFrom(flags).call('svc_sendRawTransaction', [transaction]) as Promise<TransactionResult>
  const sender = addressOf(draft.body.from)
  await printResult(wordsOf(entry).join(' '), entry, sender, await withProgress('waiting for the block', work), flags)
}

/** Configures the commands of a transaction that goes from signer to signer. */
function configureDrafts(tx: Command): void {
  subcommand(
    tx,
    'sign <file>',
    'Shows what a transaction that --unsigned wrote does, and adds the signature of one key to the file.',
    'svcd tx sign transfer.json --from bob --yes --password-file password.txt',
    signOptions,
  ).action(signFile)
  subcommand(
    tx,
    'send <file>',
    'Sends a transaction that enough keys have signed, and waits for its block.',
    'svcd tx send transfer.json',
    sendOptions,
  ).action(sendFile)
}

/** Configures `svcd tx`: one command for each transaction type. */
export const configure: Configure = (tx) => {
  withOptions(tx, exampleOf(txEntries.find(({ operation }) => operation === 'transfer') as TxEntry))
  configureDrafts(tx)
  const groups = new Map<string, Command>()
  for (const entry of txEntries) {
    const words = wordsOf(entry)
    let parent = tx
    for (const [index, word] of words.entries()) {
      const path = words.slice(0, index + 1).join(' ')
      const next = groups.get(path) ?? parent.command(word).enablePositionalOptions()
      groups.set(path, next)
      if (index < words.length - 1) next.description(`Sends a transaction of ${word}.`)
      parent = next
    }
    configureOne(parent, entry)
  }
}
