/**
 * Reads what CometBFT says in words. It gives one code to whatever fails inside it, and its commands and its log have
 * none, so this is the only file that looks into its messages. src/client uses it too: it must run in a browser.
 */
import { NodeError } from './errors.ts'

const RPC_FAILURES = [
  ['MempoolFull', /mempool is full/i],
  ['TxInCache', /already exists in cache/i],
  ['TxTooLarge', /tx too large/i],
  [
    'NotFound',
    /not found|could not find|must be (?:greater than 0|less than or equal to the current)|is not available, lowest height/i,
  ],
] as const

/** JSON-RPC's codes for a malformed call: parse error, invalid request, method not found, invalid params. */
const CALL_CODES = new Set<unknown>([-32700, -32600, -32601, -32602])

/**
 * The NodeError of a JSON-RPC error. What the words do not tell is the node's own trouble, which comes in many:
 * `appConn mempool: read message: EOF`, `client is not running`.
 */
export const rpcErrorOf = (
  method: string,
  { code, message, data }: { code?: unknown; message?: unknown; data?: unknown },
): NodeError => {
  const words = [message, data].filter((part) => typeof part === 'string' && part !== '').join(': ')
  const known = RPC_FAILURES.find(([, pattern]) => pattern.test(words))?.[0]
  return new NodeError(known ?? (CALL_CODES.has(code) ? 'RpcFailed' : 'NodeFailed'), `${method}: ${words}`)
}

/** True when `cometbft light` was asked for a header that it, or one of its witnesses, does not have yet. */
export const isHeightTooHigh = (message: string): boolean => message.includes('too high')

/** True when `cometbft light` refused to go on from a header that is older than its trusting period. */
export const isHeaderExpired = (message: string): boolean => message.includes('header has expired')

/** True when a command failed because another process holds the lock of its database. */
const isLocked = (message: string): boolean => message.includes('temporarily unavailable')

/** The port of 127.0.0.1 that an RPC server listens on, if this log line says so. */
export const portListenedOn = (line: string): number | undefined => {
  const port = /Starting RPC HTTP server on 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
  return port === undefined ? undefined : Number(port)
}

/** Why `cometbft light` ended, from the last lines that it printed. */
export const lightFailureOf = (lines: readonly string[], folder: string): string => {
  const reason = lines.map((line) => /^(?:ERROR|Error): *(.*)$/.exec(line)?.[1]).find((found) => found !== undefined)
  if (reason !== undefined && isLocked(reason))
    return `another light client is using ${folder}; try again when it has ended. If svcd was killed, end it yourself`
  return reason ?? lines.at(-1) ?? 'it printed nothing'
}

/** Why `cometbft rollback` failed, from what it printed; undefined when it gives no reason. */
export const rollbackFailureOf = (stderr: string): string | undefined => {
  const reason = (/failed to rollback state: .*/.exec(stderr) ?? /(?<=^ERROR: ).+/m.exec(stderr))?.[0]
  return reason !== undefined && isLocked(reason) ? `${reason} (it may be running: stop it first)` : reason
}

/** The state that `cometbft rollback` reached, as it printed it: its height, and its app hash in upper-case hex. */
export const rolledBackTo = (stdout: string): { height: number; appHash: string } | undefined => {
  const [, height, appHash] = /^Rolled back state to height (\d+) and hash ([0-9A-F]*)$/m.exec(stdout) ?? []
  return height === undefined || appHash === undefined ? undefined : { height: Number(height), appHash }
}

/** What to do where starting again does not help, by what CometBFT says. Without any block the first one is a panic. */
const REMEDIES = [
  [
    /app block height \(\d+\) is higher than core|AppHash does not match AppHash after replay/,
    "The state does not belong to CometBFT's blocks: put back the data of both of one time, or run svcd reset and sync again",
  ],
  [
    /app block height \(\d+\) is too far below block store base/,
    'CometBFT no longer has the blocks that the state lacks: restore a newer snapshot, or run svcd reset and sync again',
  ],
] as const

/**
 * This line of CometBFT's output if it says why the program ends: a panic of Go, or the error of a command. With what to
 * do when its blocks and the application's state do not fit.
 */
export const fatalErrorIn = (line: string): string | undefined => {
  const error = /^(?:panic|fatal error|ERROR|Error): .*/.exec(line)?.[0]
  const remedy = REMEDIES.find(([pattern]) => pattern.test(error ?? ''))?.[1]
  return remedy === undefined ? error : `${error}. ${remedy}`
}

/** The last error that CometBFT logged, in either log format. What it says of peers is never why it ends. */
export const lastErrorIn = (lines: readonly string[]): string | undefined =>
  lines.findLast((line) => /^E\[.*\berr=|"level":"error".*"err":/.test(line) && !/module"?[=:]"?p2p\b/.test(line))

/** True for a line of CometBFT's log, in either format, that is no error. */
export const isInfo = (line: string): boolean => /^[DI]\[|^\{.*"level":"(?:info|debug)"/.test(line)

/**
 * Returns why the consensus of CometBFT failed if this line of its log says so, for example `write …/wal: no space left
 * on device`. CometBFT keeps running and answering calls after that, but it neither makes nor follows blocks until it
 * is restarted. Reads both of its log formats.
 */
export const consensusFailureIn = (line: string): string | undefined => {
  if (!line.includes('CONSENSUS FAILURE!!!')) return undefined
  const [, plain, json] = /\berr="((?:[^"\\]|\\.)*)"|"err":"((?:[^"\\]|\\.)*)"/.exec(line) ?? []
  // Undoes Go's quoting.
  return (plain ?? json ?? 'no reason given').replaceAll(/\\(["\\])/g, '$1')
}

/**
 * Returns why the consensus failed according to the lines of a log. Undefined when there is no failure, or when a block
 * was committed after it.
 */
export const lastConsensusFailureIn = (lines: readonly string[]): string | undefined => {
  const last = lines.findLast((line) => consensusFailureIn(line) !== undefined || line.includes('committed state'))
  return last === undefined ? undefined : consensusFailureIn(last)
}
