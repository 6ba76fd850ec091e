import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { newTx } from '../../tools/new-tx.ts'
import { tempFolder } from '../support/tempFolder.ts'

const project = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Calls what was generated on a devnet, and prints the answers. */
const CALLS = `
import { startDevnet } from './src/cli/devnet/startDevnet.ts'
const devnet = await startDevnet({ fast: true })
const call = async (method, params) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(devnet.url, { method: 'POST', headers, body })).json()
}
try {
  const from = devnet.accounts[0].address
  const burned = await call('svc_burn', { from, value: '7' })
  const proposed = await call('svc_proposeRaiseLimit', { from, value: 'seven' })
  const proposalId = proposed.result?.deliver_tx.data
  const voted = await call('svc_vote', { from, proposalId, answer: 'Y' })
  const found = await call('svc_queryProposal', { proposalId })
  console.log(JSON.stringify({ burned, proposed, voted, found }))
} finally {
  await devnet.close()
}
`

test('what new:tx writes compiles, and its operations answer on a devnet; the project stays as it is', async () => {
  const { path: root, remove } = tempFolder('new-operation')
  const node = async (...args: readonly string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } })).stdout
  try {
    for (const part of ['src', 'proto', 'tools', 'test', 'cometbft-config', 'package.json', 'tsconfig.json'])
      cpSync(join(project, part), join(root, part), { recursive: true })
    for (const shared of ['node_modules', '.cache']) symlinkSync(join(project, shared), join(root, shared))
    newTx(root, 'accounts', 'burn')
    newTx(root, 'governance', 'proposeRaiseLimit')
    await node('tools/gen.ts')
    // The page's project: its compiler demands what the page says of each operation.
    await node('node_modules/typescript/bin/tsc', '-p', 'src/dashboard')
    writeFileSync(join(root, 'calls.ts'), CALLS)
    const { burned, proposed, voted, found } = JSON.parse(await node('calls.ts'))
    expect(burned.result).toMatchObject({ height: expect.any(Number), deliver_tx: { gasUsed: '21000' } })
    expect(burned.result.height).toBeGreaterThan(0)
    expect(proposed.result.deliver_tx.data).toHaveLength(44)
    expect(voted.result.height).toBeGreaterThan(0)
    expect(found.result.data).toMatchObject({ Type: 'raise_limit', Result: 'Approved', Detail: { value: 'seven' } })
  } finally {
    remove()
  }
  expect(existsSync(join(project, 'src/modules/accounts/tx/burn.ts'))).toBe(false)
  expect(readFileSync(join(project, 'src/modules/registry.ts'), 'utf8')).not.toMatch(/burn|raiseLimit/)
})
