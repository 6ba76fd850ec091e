/** What one check found. `ok`: as it should be; `note`: worth knowing; `bad`: wrong, and `found` says what to do. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'note' | 'bad'
  readonly found: string
}
