interface Tables {
  put(row: object): void
  remove(key: object): void
}

/** An operation calls the keeper instead. */
export function withdraw(context: { readonly state: Tables }): void {
  const { state } = context
  state.put({ id: 1 }) // red: tableWrite
  context.state.remove({ id: 1 }) // red: tableWrite
}
