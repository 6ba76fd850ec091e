import { formatCount } from '../format.ts'

/** The pages of a list that the gateway cuts. `linkOf` makes the link to a page; the first one is 1. */
export function Pager({
  page,
  pages,
  linkOf,
}: {
  readonly page: number
  readonly pages: number
  readonly linkOf: (page: number) => string
}) {
  if (pages <= 1) return null
  const link = (to: number, text: string, isThere: boolean) =>
    isThere ? <a href={linkOf(to)}>{text}</a> : <span aria-hidden='true'>{text}</span>
  return (
    <nav class='pager' aria-label='Pages'>
      {link(1, 'First', page > 1)}
      {link(page - 1, 'Newer', page > 1)}
      <span class='number'>
        Page {formatCount(page)} of {formatCount(pages)}
      </span>
      {link(page + 1, 'Older', page < pages)}
      {link(pages, 'Last', page < pages)}
    </nav>
  )
}
