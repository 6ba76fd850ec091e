/** What the node keeps of one deploy_libeni proposal: in a worker thread's message, so plain values. */
export interface Wanted {
  /** The proposal's id, base64. */
  readonly id: string
  readonly name: string
  readonly version: string
  /** Of this node's OS, in the proposal's order; none when the proposal has no file for it. */
  readonly urls: readonly string[]
  /** Lower-case hex. */
  readonly md5: string
  /**
   * stage: open, or approved before its point. deploy: approved, and its point is reached. drop: rejected or expired.
   */
  readonly goal: 'stage' | 'deploy' | 'drop'
  /** When the proposal's point comes, in ms of Unix time; estimated where the point is a height. */
  readonly dueMs: number
}

/** What became of a library on this node. Source: protocol.md §7, deploy_libeni. */
export type LibraryStatus = 'init' | 'ready' | 'failed' | 'deployed' | 'collapsed' | 'rejected'

/** What the fetcher tells. */
export type Report =
  | {
      readonly type: 'status'
      readonly library: Wanted
      readonly status: LibraryStatus
      readonly why?: string | undefined
    }
  | { readonly type: 'try'; readonly library: Wanted; readonly url?: string; readonly why: string }

/** Times in ms, sizes in bytes. */
export interface Limits {
  /**
   * A node waits up to so long, and up to a tenth of the time until the point, before its first try: how long is
   * random.
   */
  readonly delayMsMax: number
  /** One try: name server, connection, redirects and body together. */
  readonly tryMs: number
  /** After the first round in which every URL failed; each later one is twice as long, up to pauseMsMax. */
  readonly pauseMs: number
  readonly pauseMsMax: number
  /** All of staging, the file that grows included. */
  readonly stagingBytesMax: number
}
