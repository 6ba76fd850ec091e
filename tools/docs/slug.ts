/**
 * The anchor of a heading as code hosts make it, so that a link to it leads to the same place there and on the site.
 * `heading` is its text without markup.
 */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
