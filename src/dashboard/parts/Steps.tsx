/** A link of these; without an address it only stands there, so that nothing jumps when a reader pages. */
interface Step {
  readonly name: string
  readonly to: string | undefined
}

const Link = ({ name, to }: Step) => (to === undefined ? <span class='soft'>{name}</span> : <a href={to}>{name}</a>)

/** Links to what stands before and behind this page. `label`: what is paged, for readers who do not see it. */
export function Steps({ label, back, on }: { readonly label: string; readonly back: Step; readonly on: Step }) {
  if (back.to === undefined && on.to === undefined) return null
  return (
    <nav class='steps' aria-label={label}>
      <Link name={`← ${back.name}`} to={back.to} />
      <Link name={`${on.name} →`} to={on.to} />
    </nav>
  )
}
