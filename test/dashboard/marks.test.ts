import { expect, test } from '@jest/globals'
import { partsOf, visibleText } from '../../src/dashboard/marks.ts'

test.each([
  ['turns the text around', '\u202Eetad\u2069', '[U+202E]etad[U+2069]'],
  ['cannot be seen between letters', 'Har\u200Bbour\uFEFF', 'Har[U+200B]bour[U+FEFF]'],
  ['looks like a space', 'Old\u00A0Harbour\u3000\u2003', 'Old[U+00A0]Harbour[U+3000][U+2003]'],
  ['is a letter without a shape', '\u3164\u2800\u115F', '[U+3164][U+2800][U+115F]'],
  ['joins letters that nothing joins', 'a\u200Db\u200C', 'a[U+200D]b[U+200C]'],
  ['hides a text', `x${String.fromCodePoint(0xe0041)}`, 'x[U+E0041]'],
  ['covers the lines above and below', `o${'\u0336'.repeat(7)}k`, `o${'\u0336'.repeat(5)}[U+0336][U+0336]k`],
  [
    'varies a letter that has no variants',
    'Alice\uFE00\uFE0F\u{E0100}B\u180B',
    'Alice[U+FE00][U+FE0F][U+E0100]B[U+180B]',
  ],
  ['varies nothing', '\uFE0F', '[U+FE0F]'],
  ['is reserved, and not to be shown', 'a\u2065\uFFF0\u{E0002}é\u{E0FFF}', 'a[U+2065][U+FFF0][U+E0002]é[U+E0FFF]'],
  ['controls a terminal', '\u001B[2J\u0085', '[U+001B][2J[U+0085]'],
])('a character that %s stands there by its code', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test.each([
  'two words\nand a line\twith a tab\r\n',
  'Tromsø, Zürich, 東京, القاهرة, नई दिल्ली',
  'Vie\u0323\u0302t, בְּרֵאשִׁ֖ית, ཧཱུྂ, น้ำ, ക്ഷ്രൗം',
  '\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645',
  '\u{1F468}\u200D\u{1F469}\u200D\u{1F467} \u2764\uFE0F',
  '1\uFE0F\u20E3 #\uFE0F\u20E3 \u2764\uFE0F\u200D\u{1F525}a\u2764\uFE0Fb \u845B\u{E0100} \u1820\u180B\u1821',
])('text as people write it stays as it is: %j', (text) => {
  expect(partsOf(text)).toEqual([text])
})
