/** A piece of an answer: text, or bytes of UTF-8 that other answers may share. */
export type Piece = string | Uint8Array

/** A result that is JSON already: it is sent as it stands, and many answers may hold the same bytes. */
export class RawJson {
  readonly pieces: readonly Piece[]
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }
}
