/**
 * Malformed and hostile input: `make fuzz`. Each campaign runs `--count` cases, 1,000,000 unless told otherwise, from
 * `--seed`, with which the same cases come again. Only the websockets run a tenth of that. `--only framer,rpc` chooses
 * some of them, and `--json FILE` keeps their reports. The first case that breaks a target is printed, and ends its campaign.
 */
import { runCampaigns } from '../support/campaign.ts'
import { application } from './application.ts'
import { framer } from './framer.ts'
import { requests } from './requests.ts'
import { rpc } from './rpc.ts'
import { sockets } from './sockets.ts'
import { transactions } from './transactions.ts'

const CASES = 1_000_000
/** A websocket is opened and ended for a few frames, so that a case takes many times as long as the others. */
const CASES_OF_SOCKET = 10

await runCampaigns(
  {
    framer: (options) => framer(options),
    requests: (options) => requests(options),
    transactions: (options) => transactions(options),
    application: (options) => application(options),
    rpc: (options) => rpc(options),
    sockets: ({ count, seed }) => sockets({ count: Math.ceil(count / CASES_OF_SOCKET), seed }),
  },
  CASES,
)
