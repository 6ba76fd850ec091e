/**
 * Records an example of every method on a devnet of its own and writes src/gateway/rpc/examples.json, which the OpenRPC
 * document shows: `npm run examples`. Run it when a method comes or changes; a test names what is missing. A method that
 * has no call of its own here is called with values for the types of its required fields.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Devnet, startDevnet } from '../src/cli/devnet/startDevnet.ts'
import { methods } from '../src/gateway/rpc/methods/list.ts'
import { fromHex, toBase64 } from '../src/base/bytes.ts'
import { txEntries, txEntryOf } from '../src/modules/registry.ts'
import { type Fields, readFields } from '../src/tx/fields.ts'
import { signerOfSeed } from '../src/tx/sign.ts'
import { gatewayClient } from '../test/e2e/support/client.ts'

type Json = Readonly<Record<string, unknown>>

/** What an answer holds as far as later calls need it. */
interface Answer {
  readonly height: number
  readonly hash: string
  readonly deliver_tx: { readonly data: string }
}

interface Reply {
  readonly id?: string
  readonly result?: unknown
  readonly error?: unknown
}

/** The example of each method by its name. */
export type Examples = Readonly<Record<string, { readonly params: Json; readonly result: unknown }>>

/** Calls a method, and keeps the first call and answer of each. */
type RecordCall = <T = Answer>(method: string, params?: Json) => Promise<T>

/** Calls a method over the websocket, which takes every call. */
async function call(socket: WebSocket, method: string, params: Json): Promise<unknown> {
  const id = randomBytes(4).toString('hex')
  const answered = new Promise<Reply>((done) => {
    const listen = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as Reply
      if (message.id !== id) return
      socket.removeEventListener('message', listen)
      done(message)
    }
    socket.addEventListener('message', listen)
  })
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  const { result, error } = await answered
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

async function recordStake(record: RecordCall, [owner, alice, bob]: readonly string[]): Promise<void> {
  const pubKey = toBase64(randomBytes(32))
  const description = { name: 'Alice', website: 'https://alice.example' }
  await record('svc_declareCandidacy', { from: alice, pubKey, description, compRate: '0.2' })
  await record('svc_updateCandidacy', { from: alice, description: { ...description, location: 'Lisbon' } })
  await record('svc_verifyCandidacy', { from: owner, candidateAddress: alice, verified: 'Y' })
  await record('svc_deactivateCandidacy', { from: alice })
  await record('svc_activateCandidacy', { from: alice })
  const { deliver_tx } = await record('svc_updateCandidacyAccount', { from: alice, newCandidateAccount: bob })
  const accountUpdateRequestId = Number(atob(deliver_tx.data))
  await record('svc_queryAccountUpdates', { address: bob })
  await record('svc_acceptCandidacyAccountUpdate', { from: bob, accountUpdateRequestId })
  await record('svc_queryAccountUpdate', { accountUpdateRequestId })
  await record('svc_queryValidator', { validatorAddress: bob })
  await record('svc_queryValidators')
  await record('svc_getValidatorHistory', { validatorAddress: bob, limit: 2 })
  await record('svc_withdrawCandidacy', { from: bob })
  await record('svc_queryUnbonding', { address: bob })
}

async function recordDelegation(record: RecordCall, [owner, , , carol]: readonly string[]): Promise<void> {
  await record('svc_delegate', { from: carol, validatorAddress: owner, amount: '1000000000000000000000' })
  // Blocks bring awards, and what is taken back waits.
  await record('svc_mine', { blocks: 3 })
  await record('svc_withdraw', { from: carol, validatorAddress: owner, amount: '250000000000000000000' })
  await record('svc_queryDelegator', { delegatorAddress: carol })
  await record('svc_queryDelegations', { validatorAddress: owner, limit: 2 })
  await record('svc_queryStake', { validatorAddress: owner })
}

async function recordGovernance(record: RecordCall, [owner, , , carol]: readonly string[]): Promise<void> {
  const param = { from: owner, name: 'gas_price', value: '3000000000', reason: 'Fees are too low.' }
  const { deliver_tx } = await record('svc_proposeChangeParam', param)
  const proposalId = deliver_tx.data
  await record('svc_vote', { from: owner, proposalId, answer: 'Y' })
  await record('svc_queryProposal', { proposalId })
  await record('svc_proposeTransferFund', { from: owner, transferFrom: owner, transferTo: carol, amount: '5' })
  const url = 'https://files.example/libsvc.so'
  const library = {
    from: owner,
    name: 'libsvc',
    version: 'v1.0.0',
    fileUrl: JSON.stringify({ ubuntu: [url], centos: [url] }),
    md5: JSON.stringify({ ubuntu: 'd41d8cd98f00b204e9800998ecf8427e', centos: 'd41d8cd98f00b204e9800998ecf8427e' }),
  }
  await record('svc_proposeDeployLibEni', library)
  await record('svc_proposeUpgradeProgram', library)
  const { data } = await record<{ readonly data: readonly { readonly pub_key: { readonly value: string } }[] }>(
    'svc_queryValidatorSet',
  )
  await record('svc_proposeRetireProgram', { from: owner, preservedValidators: data[0]?.pub_key.value })
  await record('svc_queryProposals', { state: 'open', newest: true, limit: 1 })
  await record('svc_getParamsHistory', { limit: 2 })
}

/** The bytes of a transfer, signed by the last account. */
function signedTransfer({ accounts, chainId }: Devnet, to: string): string {
  const { address, privateKey } = accounts.at(-1) as Devnet['accounts'][0]
  const signer = signerOfSeed(fromHex(privateKey.replace(/^0x/, '')) as Uint8Array)
  const message = readFields(txEntryOf.get('transfer')?.input ?? {}, { to, value: '1' })
  if (signer.address !== address) throw new Error('the last account has another key')
  return toBase64(signer.signTx({ chainId, nonce: 0, operation: 'transfer', message }))
}

async function recordAccounts(record: RecordCall, devnet: Devnet): Promise<void> {
  const [, alice = '', , carol] = devnet.accounts.map(({ address }) => address)
  const { hash, height } = await record('svc_transfer', { from: alice, to: carol, value: '1000000000000000000' })
  await record('svc_sendRawTransaction', { transaction: signedTransfer(devnet, alice) })
  const tooMuch = await record('svc_transfer', { from: carol, to: alice, value: `1${'0'.repeat(30)}` })
  await record('svc_getShortfall', { hash: tooMuch.hash })
  await record('svc_getBalance', { address: carol })
  await record('svc_getTransactionCount', { address: carol })
  await record('svc_estimateFee', { operation: 'transfer' })
  await gatewayClient(devnet.url).waitForIndex(height)
  await record('svc_getTransaction', { hash })
  await record('svc_getTransactions', { address: carol, limit: 1 })
  await record('svc_getProof', { table: 'accounts', key: carol })
}

async function recordChain(record: RecordCall, [owner]: readonly string[]): Promise<void> {
  const subscription = await record<string>('svc_subscribe', { topic: 'newBlock' })
  await record('svc_unsubscribe', { subscription })
  await record('svc_mine', { blocks: 3 })
  await record('svc_mine', { blocks: 50 })
  await record('svc_getAwards', { validatorAddress: owner, limit: 1 })
  await record('svc_getBlock', { block: 2 })
}

/**
 * The input that an example shows: a value of each required field by its type, and a `limit` where it takes one. Throws
 * for a type that `valueOfType` does not have.
 */
function exampleInput(fields: Fields, valueOfType: Json): Json {
  const input: Record<string, unknown> = {}
  for (const [name, { type, optional }] of Object.entries(fields)) {
    if (optional && name !== 'limit') continue
    const value = optional ? 2 : valueOfType[type]
    if (value === undefined)
      throw new Error(`${name}: add an example value of the type ${type}, or a call of this method`)
    input[name] = value
  }
  return input
}

/** Calls each method that has no example yet. Throws where an operation fails. */
async function recordOthers(record: RecordCall, examples: Examples, valueOfType: Json): Promise<void> {
  const operations = new Set(txEntries.map(({ method }) => method))
  for (const { name, input } of methods) {
    // The document itself, in which the examples stand.
    if (examples[name] !== undefined || name === 'rpc.discover') continue
    const answer = await record(name, exampleInput(input, valueOfType))
    if (operations.has(name) && answer.height === 0)
      throw new Error(`${name}: add a call that succeeds: ${JSON.stringify(answer)}`)
  }
}

/** Calls every method on a new devnet with `fast` set. Throws when one answers with an error. */
export async function recordExamples(devnet: Devnet): Promise<Examples> {
  const examples: { [method: string]: Examples[string] } = {}
  const socket = new WebSocket(devnet.url.replace('http', 'ws'))
  const record: RecordCall = async <T>(method: string, params: Json = {}) => {
    const result = await call(socket, method, params)
    examples[method] ??= { params, result }
    return result as T
  }
  const addresses = devnet.accounts.map(({ address }) => address)
  try {
    await new Promise((opened, refused) => {
      socket.addEventListener('open', opened)
      socket.addEventListener('error', refused)
    })
    await recordAccounts(record, devnet)
    await recordStake(record, addresses)
    await recordDelegation(record, addresses)
    await recordGovernance(record, addresses)
    await recordChain(record, addresses)
    await recordOthers(record, examples, {
      address: addresses[0],
      proposalId: examples['svc_vote']?.params['proposalId'],
      pubKey: examples['svc_declareCandidacy']?.params['pubKey'],
      amount: '1',
      ratio: '0.5',
      uint: 1,
      yesNo: 'Y',
      flag: true,
      text: 'text',
    })
    return examples
  } finally {
    socket.close()
  }
}

if (import.meta.main) {
  const devnet = await startDevnet({ fast: true })
  const examples = await recordExamples(devnet).finally(() => devnet.close())
  const inOrder = methods.flatMap(({ name }) => (examples[name] === undefined ? [] : [[name, examples[name]]]))
  const file = join(import.meta.dirname, '../src/gateway/rpc/examples.json')
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`)
}
