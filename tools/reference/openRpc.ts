import { messageOf } from '../../src/gateway/http/pieces.ts'
import { methodGroups } from '../../src/gateway/rpc/methods/list.ts'
import { createDocument } from '../../src/gateway/rpc/openrpc.ts'

/** The OpenRPC document of a gateway at `url`. */
export const openRpcDocument = (version = '0', url = 'http://127.0.0.1/'): unknown =>
  JSON.parse(String(messageOf(createDocument(methodGroups, version)(url))))
