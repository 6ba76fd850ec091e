/** What the playground shows while no gateway answers, and what it knows about errors. */
import { PORTS } from '../../src/base/ports.ts'
import { VERSION } from '../../src/base/version.ts'
import { type RpcErrorName, rpcErrors } from '../../src/gateway/rpc/errors.ts'
import { openRpcDocument } from '../reference/openRpc.ts'
import { listedTxErrors, WHEN } from '../reference/errors.ts'
import type { PlaygroundData } from './playground.ts'

/** The OpenRPC document of this version with its recorded examples, and the catalogue of errors. */
export const playgroundData = (): PlaygroundData => ({
  document: openRpcDocument(VERSION, `http://127.0.0.1:${PORTS.gateway}/`) as PlaygroundData['document'],
  rpcErrors: (Object.keys(rpcErrors) as RpcErrorName[]).map((name) => ({
    code: rpcErrors[name].code,
    // Shown as plain text.
    meaning: WHEN[name].replaceAll('`', ''),
  })),
  txErrors: listedTxErrors().map(({ code, log, source }) => ({ code, log, source })),
})
