/** Sends transactions, and reads names with their proof. `npm run tx` says how. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { getPublicKey, utils } from '@noble/ed25519'
import { whyNotAbsent, whyNotMember } from '@svcd/store'
import { accounts, names } from './app.ts'
import { type Action, signTx, toHex } from './tx.ts'

const { RPC = 'http://127.0.0.1:26657', KEY = 'secret.key' } = process.env
const fromBase64 = (text?: string) => new Uint8Array(Buffer.from(text ?? '', 'base64'))

async function ask(method: string, params: object) {
  const response = await fetch(RPC, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(`${method}: ${error.data}`)
  return result
}

/** The app hash after a block, which the header of the next block has. This trusts the node for its headers. */
async function appHashAfter(height: number): Promise<Uint8Array> {
  while (Number((await ask('status', {})).sync_info.latest_block_height) <= height) await sleep(100)
  return Buffer.from((await ask('commit', { height: String(height + 1) })).signed_header.header.app_hash, 'hex')
}

async function query(name: string): Promise<string> {
  const { response } = await ask('abci_query', { path: `/names/${name}`, prove: true })
  if (response.code !== 0) return response.log
  const [key, value] = [names.keyOf({ name }), fromBase64(response.value)]
  const proof = fromBase64(response.proofOps?.ops[0].data)
  const appHash = await appHashAfter(Number(response.height))
  const why = value.length > 0 ? whyNotMember(appHash, proof, key, value) : whyNotAbsent(appHash, proof, key)
  if (why !== undefined) return `not proven: ${why}`
  return value.length > 0 ? `proven: ${names.decode({ name }, value).owner}` : 'proven: nobody has it'
}

async function send(action: string, name: string, to: string): Promise<string> {
  const { response } = await ask('abci_query', { path: `/accounts/${publicKey}` })
  const { nonce } = accounts.decode({ publicKey }, fromBase64(response.value))
  const chainId = (await ask('status', {})).node_info.network
  const body = { chainId, nonce, action: action as Action, name, to }
  const tx = Buffer.from(signTx(body, secretKey)).toString('base64')
  const { check_tx, deliver_tx, tx_result = deliver_tx, height } = await ask('broadcast_tx_commit', { tx }) // deliver_tx: 0.37
  const { code, log } = check_tx.code === 0 ? tx_result : check_tx
  return code === 0 ? `in block ${height}` : `refused with code ${code}: ${log}`
}

if (!existsSync(KEY)) writeFileSync(KEY, toHex(utils.randomSecretKey()), { mode: 0o600 })
const secretKey = new Uint8Array(Buffer.from(readFileSync(KEY, 'utf8'), 'hex'))
const publicKey = toHex(getPublicKey(secretKey))
const [action = '', name = '', to = action === 'register' ? publicKey : ''] = process.argv.slice(2)
if (action === 'query') console.log(await query(name))
else if (action !== '' && name !== '') console.log(await send(action, name, to))
else console.log(`register NAME | transfer NAME PUBLIC_KEY | release NAME\nYour public key: ${publicKey}`)
