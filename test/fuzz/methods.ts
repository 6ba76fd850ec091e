import { openRpcDocument } from '../../tools/reference/openRpc.ts'
import type { Described } from './rpcModel.ts'

/** The methods as the gateway's document describes them. */
export const { methods } = openRpcDocument() as { readonly methods: readonly Described[] }
