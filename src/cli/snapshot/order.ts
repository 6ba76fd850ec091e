/** What the thread is started with: the state's database, the folder of snapshots, and how many are kept. */
export interface MakerOptions {
  readonly path: string
  readonly folder: string
  readonly keep: number
}

/** Asks for the snapshot of the height that is committed now; whoever asks waits at `flag`. */
export interface MakerOrder {
  readonly height: number
  readonly flag: Int32Array<SharedArrayBuffer>
}

/** What the thread tells. `late`: nobody waited any more when it came to it. */
export type MakerMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'made'
      readonly height: number
      readonly bytes: number
      readonly chunks: number
      readonly ms: number
    }
  | { readonly kind: 'late'; readonly height: number }
  | { readonly kind: 'failed'; readonly height: number; readonly why: string }

/** Values of the flag: it leaves `waiting` once. */
export const MAKER_FLAG = { waiting: 0, begun: 1, givenUp: 2 } as const
