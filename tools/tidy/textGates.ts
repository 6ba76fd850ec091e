import type { Source } from './source.ts'

const FILE_LINES_MAX = 500
const LINE_CHARACTERS_MAX = 140

/** One rule over one file: which files it reads, and the lines (0: the file) it refuses. */
export interface Gate {
  readonly name: string
  readonly message: string
  readonly reads: (path: string) => boolean
  readonly refused: (source: Source) => readonly number[]
}

const isCode = (path: string): boolean => /\.(?:tsx?|js)$/.test(path)

function linesLike(pattern: RegExp): (source: Source) => number[] {
  return (source) => source.lines.flatMap((line, at) => (pattern.test(line) ? [at + 1] : []))
}

/** The gates that look at the text alone. */
export const textGates: readonly Gate[] = [
  {
    name: 'fileLines',
    message: `a file has at most ${FILE_LINES_MAX} lines`,
    reads: (path) => isCode(path) || path.endsWith('.proto'),
    refused: ({ lines }) => (lines.length - 1 > FILE_LINES_MAX ? [0] : []),
  },
  {
    name: 'lineCharacters',
    message: `a line has at most ${LINE_CHARACTERS_MAX} characters`,
    reads: () => true,
    refused: linesLike(new RegExp(`.{${LINE_CHARACTERS_MAX + 1}}`, 'u')),
  },
  {
    name: 'toDo',
    message: 'write an issue or an assumption instead (CONTRIBUTING.md, Style)',
    reads: () => true,
    refused: linesLike(/\b(?:TO[D]O|FIX[M]E|XX[X])\b/),
  },
  {
    name: 'machinePath',
    message: 'a path of one machine',
    reads: (path) => !path.startsWith('test/') && !path.endsWith('Dockerfile'),
    // Homebrew's folder on Linux is the same on every machine.
    refused: linesLike(/(?<![\w.}\])])\/(?:root|home(?!\/linuxbrew\/)|tmp|Users)(?:\/|['"`])/),
  },
  {
    name: 'storeWords',
    message: 'the store is for any chain: it names nothing of staking or governance',
    reads: (path) => path.startsWith('src/store/'),
    refused: linesLike(
      /\bsvc\b|stak(?:e|ing)|candida|validator|proposal|delegat|governance|award|unbond|protocol\.md/i,
    ),
  },
  {
    name: 'protoMap',
    message: 'a map has no one order of bytes (CONTRIBUTING.md, Style)',
    reads: (path) => path.endsWith('.proto'),
    refused: linesLike(/^\s*map\s*</),
  },
]
