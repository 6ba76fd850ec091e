import { readFileUrl } from '../../values/library.ts'
import type { Piece } from '../pieces.ts'
import { listed, type Message, textOf } from './operation.ts'

/** The name and the version of a library or program, as a proposer wrote them. */
export const libraryOf = (message: Message): Piece => ({
  kind: 'stranger',
  value: `${textOf(message, 'name')} ${textOf(message, 'version')}`.trim(),
})

export const systemsOf = (fileUrl: string): string => listed([...(readFileUrl(fileUrl)?.keys() ?? [])])

export const libraryFields = {
  name: { label: 'Name' },
  version: { label: 'Version' },
  fileUrl: { label: 'Files' },
  md5: { label: 'MD5 sums' },
  reason: { label: 'Reason' },
} as const
