import { UserLink, UserText } from './text.tsx'

/** An address in a text, without the mark that ends the sentence around it. No character in it is unseen. */
const ADDRESS = /(https?:\/\/[^\s\p{C}<>"]*[^\s\p{C}<>".,:;!?)\]'*])/iu

/** A paragraph: its lines as they were written, and its addresses as links. */
const Paragraph = ({ text }: { readonly text: string }) => (
  <p>
    {text
      .split(ADDRESS)
      .map((part, at) => (at % 2 === 0 ? <UserText key={at} text={part} /> : <UserLink key={at} url={part} />))}
  </p>
)

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
