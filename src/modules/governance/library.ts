import type { TxError } from '../../base/txError.ts'
import { LIBRARY_NAME, parseVersion, readFileUrl, readMd5 } from '../../values/library.ts'
import { governanceErrors } from './errors.ts'
import type { OwnFields } from './tables.ts'

/** What a proposal says of a library or program. */
export type LibraryForm = Pick<OwnFields<'deploy_libeni'>, 'name' | 'version' | 'fileUrl' | 'md5'>

/** Name and version: given, and in their form. Source: protocol.md §6, deploy_libeni. */
export function checkName({ name, version }: LibraryForm): TxError | undefined {
  if (name === '' || version === '') return governanceErrors.insufficientParameters
  return LIBRARY_NAME.test(name) && parseVersion(version) !== undefined ? undefined : governanceErrors.invalidLibrary
}

/** fileUrl and md5: JSON objects of the same OS names, in their form. Source: protocol.md §6, deploy_libeni. */
export function checkFiles({ fileUrl, md5 }: LibraryForm): TxError | undefined {
  const urls = readFileUrl(fileUrl)
  if (urls === undefined) return governanceErrors.invalidFileUrl
  const sums = readMd5(md5)
  return sums !== undefined && sums.size === urls.size && [...sums.keys()].every((os) => urls.has(os))
    ? undefined
    : governanceErrors.invalidMd5
}

/** URLs and md5 (lower-case hex) of a well-formed library for this OS; undefined when it has none for it. */
export function fileFor(
  { fileUrl, md5 }: LibraryForm,
  os: string,
): { readonly urls: readonly string[]; readonly md5: string } | undefined {
  const urls = readFileUrl(fileUrl)?.get(os)
  const sum = readMd5(md5)?.get(os)
  return urls === undefined || sum === undefined ? undefined : { urls, md5: sum.toLowerCase() }
}
