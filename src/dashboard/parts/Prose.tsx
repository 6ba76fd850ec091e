import { UserLink, UserText } from './text.tsx'

/** An address in a text, without the mark that ends the sentence around it. No character in it is unseen. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"]*[^\s\p{C}<>".,:;!?)\]'*]/giu

/** A paragraph: its lines as they were written, and its addresses as links. */
function Paragraph({ text }: { readonly text: string }) {
  const links = [...text.matchAll(ADDRESS)]
  const ends = links.map(({ index, 0: url }) => index + url.length)
  return (
    <p>
      {links.map(({ index, 0: url }, at) => (
        <>
          <UserText text={text.slice(ends[at - 1] ?? 0, index)} />
          <UserLink url={url} />
        </>
      ))}
      <UserText text={text.slice(ends.at(-1) ?? 0)} />
    </p>
  )
}

/** What a stranger wrote at length: paragraphs and links, and nothing else. */
export const Prose = ({ text }: { readonly text: string }) => (
  <div class='prose'>
    {text
      .trim()
      .split(/\n\s*\n/)
      .map((paragraph, index) => (
        <Paragraph key={index} text={paragraph} />
      ))}
  </div>
)
