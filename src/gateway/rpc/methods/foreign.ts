/** What wallets and libraries of other chains ask before they do anything else. Source: protocol.md §10. */
import { toHex, utf8 } from '../../../base/bytes.ts'
import { sha256 } from '../../../base/sha256.ts'
import { VERSION } from '../../../base/version.ts'
import { defineMethod, type Method, type Services } from './define.ts'

/**
 * The number that stands for a chain id where a tool expects one: the first 31 bits of its sha256, at least 1. It only
 * tells chains apart. No signature contains it.
 */
export const chainNumberOf = (chainId: string): number =>
  Math.max(1, Number.parseInt(toHex(sha256(utf8(chainId))).slice(0, 8), 16) >>> 1)

const chainNumber = async ({ chain }: Services): Promise<number> => chainNumberOf(await chain.chainId())

/** Methods of Ethereum that `connect` functions call. */
export const foreignMethods: readonly Method[] = [
  defineMethod({
    name: 'eth_chainId',
    doc: 'For tools of Ethereum: a number in 0x-hex that stands for the chain id.',
    input: {},
    isForeign: true,
    result: { type: 'string', pattern: '^0x[1-9a-f][0-9a-f]{0,7}$' },
    run: async (services) => `0x${(await chainNumber(services)).toString(16)}`,
  }),
  defineMethod({
    name: 'eth_blockNumber',
    doc: 'For tools of Ethereum: the height of the head in 0x-hex, which `svc_blockNumber` answers as a number.',
    input: {},
    isForeign: true,
    result: { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]*)$' },
    run: async ({ chain }) => `0x${(await chain.forCallers.rpc.committedHeight()).toString(16)}`,
  }),
  defineMethod({
    name: 'net_listening',
    doc: 'For tools of Ethereum: true while the gateway hears of blocks from its node.',
    input: {},
    errors: [],
    isForeign: true,
    result: { type: 'boolean' },
    run: async ({ chain }) => chain.feed.connected(),
  }),
  defineMethod({
    name: 'net_version',
    doc: 'For tools of Ethereum: the same number in decimal digits.',
    input: {},
    isForeign: true,
    result: { type: 'string', pattern: '^[1-9][0-9]{0,9}$' },
    run: async (services) => String(await chainNumber(services)),
  }),
  defineMethod({
    name: 'web3_clientVersion',
    doc: 'For tools of Ethereum: the name and the version of this program.',
    input: {},
    errors: [],
    isForeign: true,
    result: { type: 'string' },
    run: async () => `svcd/v${VERSION}`,
  }),
]
