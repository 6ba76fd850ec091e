/**
 * The order in which CometBFT calls an application. Source: comet:spec/abci/abci++_comet_expected_behavior.md, "Valid
 * method call sequences", which gives it as a grammar:
 *
 *     start            = clean-start / recovery
 *     clean-start      = init-chain [state-sync] consensus-exec
 *     state-sync       = *(offer-snapshot *apply-chunk) offer-snapshot 1*apply-chunk info
 *     recovery         = info consensus-exec
 *     consensus-exec   = *(*consensus-round decide commit)
 *     consensus-round  = *got-vote [prepare-proposal] [process-proposal] [*got-vote extend-vote *got-vote]
 *
 * A round may hold nothing of this, and a height has any number of rounds, so the calls of a round come in any order.
 * Echo, Flush, CheckTx, Query, ListSnapshots and LoadSnapshotChunk may come at any time and are left out, and so may
 * Info beside the two places above. Two things are known beyond the text:
 *
 * - The handshake asks Info first, and InitChain follows exactly when that tells height 0 (consensus/replay.go).
 * - A node that is told to state sync makes no handshake, so neither Info nor InitChain comes first (node/node.go).
 */

/** What may be called, by the names of the requests. `info` is told with the height that the application answered. */
export type Call = { readonly kind: 'info'; readonly height: number } | { readonly kind: string }

/** How a version of CometBFT executes a block: 0.37 by three kinds of calls, 0.38 and later by one. */
export type Dialect = '0.37' | '0.38'

const ANY_TIME: ReadonlySet<string> = new Set([
  'echo',
  'flush',
  'checkTx',
  'query',
  'listSnapshots',
  'loadSnapshotChunk',
])
const ROUND: ReadonlySet<string> = new Set(['prepareProposal', 'processProposal', 'extendVote', 'verifyVoteExtension'])

/**
 * Where one run of CometBFT stands.
 *
 * - `begun`: nothing was called.
 * - `empty`: Info told height 0.
 * - `initialized`: InitChain was called.
 * - `offered`, `restoring`: a snapshot was offered, or some of its chunks were.
 * - `ready`: the application has a state: blocks may follow.
 * - `executing`: between BeginBlock and EndBlock.
 * - `decided`: a block was executed.
 */
type State = 'begun' | 'empty' | 'initialized' | 'offered' | 'restoring' | 'ready' | 'executing' | 'decided'

/** What Info does to a state: at its two places it leads on, elsewhere it changes nothing. */
function afterInfo(state: State, height: number): State {
  if (state === 'begun' || state === 'empty') return height === 0 ? 'empty' : 'ready'
  // That it is the last one shows only in what follows.
  return state
}

const MOVES: Readonly<Record<State, Readonly<Record<string, State>>>> = {
  begun: { offerSnapshot: 'offered' },
  empty: { initChain: 'initialized', offerSnapshot: 'offered' },
  initialized: { offerSnapshot: 'offered', finalizeBlock: 'decided', beginBlock: 'executing' },
  offered: { offerSnapshot: 'offered', applySnapshotChunk: 'restoring' },
  restoring: { offerSnapshot: 'offered', applySnapshotChunk: 'restoring' },
  ready: { finalizeBlock: 'decided', beginBlock: 'executing' },
  executing: { deliverTx: 'executing', endBlock: 'decided' },
  decided: { commit: 'ready' },
}

const dialectOf = (kind: string): Dialect | undefined => {
  if (kind === 'finalizeBlock') return '0.38'
  return kind === 'beginBlock' ? '0.37' : undefined
}

/** Follows the calls of one run of CometBFT, from its start to its end. */
export interface Grammar {
  /** Takes the next call. Returns why it may not come here; nothing that comes after such a call is judged. */
  next(call: Call): string | undefined
}

/** Creates one for a run that begins. */
export function createGrammar(): Grammar {
  let state: State = 'begun'
  let dialect: Dialect | undefined
  // Info after the last chunk, by which the node checks what was restored.
  let isChecked = false
  let isBroken = false

  const move = (kind: string): State | undefined => {
    const isAfterSync = state === 'restoring' && isChecked
    const from = isAfterSync && kind !== 'applySnapshotChunk' && kind !== 'offerSnapshot' ? 'ready' : state
    if (ROUND.has(kind)) return from === 'ready' || from === 'initialized' ? 'ready' : undefined
    return MOVES[from][kind]
  }

  return {
    next: (call) => {
      const { kind } = call
      if (isBroken || ANY_TIME.has(kind)) return undefined
      if ('height' in call) {
        isChecked = true
        state = afterInfo(state, call.height)
        return undefined
      }
      const next = move(kind)
      const spoken = dialectOf(kind)
      if (next === undefined || (spoken !== undefined && dialect !== undefined && spoken !== dialect)) {
        isBroken = true
        return `${kind} came ${next === undefined ? `in the state ${state}` : `in a run of the ${dialect} dialect`}`
      }
      dialect ??= spoken
      isChecked = false
      state = next
      return undefined
    },
  }
}

/** The first call of a whole run that may not come where it does, with its index. */
export function firstViolation(calls: readonly Call[]): string | undefined {
  const grammar = createGrammar()
  for (const [at, call] of calls.entries()) {
    const why = grammar.next(call)
    if (why !== undefined) return `call ${at}: ${why}`
  }
  return undefined
}
