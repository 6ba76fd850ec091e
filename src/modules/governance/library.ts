import { isObject } from '../../base/json.ts'
import type { TxError } from '../../base/txError.ts'
import { governanceErrors } from './errors.ts'
import type { OwnFields } from './tables.ts'

/** The OS names that fileUrl and md5 may hold. Source: interface, Limits 3. */
export const OS_NAMES: readonly string[] = ['ubuntu', 'centos']

/** Most URLs of one OS. */
export const URLS_MAX = 8
const NAME = /^[a-z0-9_-]{1,64}$/
const VERSION = /^v(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,15})$/
// Not `new URL`: what it takes changes with the Node version, and this is consensus.
const URL_FORM = /^https?:\/\/[!-~]+$/i
const MD5 = /^[0-9a-fA-F]{32}$/

/** X, Y and Z of vX.Y.Z, each 0 to 2^53 − 1 without leading zeros, or undefined. Source: interface, Versioning. */
export function parseVersion(version: string): readonly number[] | undefined {
  const parts = VERSION.exec(version)?.slice(1).map(Number)
  return parts?.every(Number.isSafeInteger) === true ? parts : undefined
}

/** True when version `a` is above `b`. Both have the form vX.Y.Z. */
export function isAbove(a: string, b: string): boolean {
  const [left, right] = [parseVersion(a) ?? [], parseVersion(b) ?? []]
  const at = left.findIndex((part, index) => part !== right[index])
  return at >= 0 && Number(left[at]) > Number(right[at])
}

/** An object whose keys are OS names, from JSON text; undefined when it is not one, is empty, or names an OS twice. */
function perOs(json: string): ReadonlyMap<string, unknown> | undefined {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    if (error instanceof RangeError) throw error // out of stack or memory: no verdict on the text
    return undefined
  }
  if (!isObject(value)) return undefined
  const named = OS_NAMES.filter((os) => Object.hasOwn(value, os))
  const entries = new Map<string, unknown>(named.map((os) => [os, value[os]]))
  // JSON.parse keeps the last of two equal keys. In valid JSON a string before a colon is a key, so counting them finds
  // both.
  const keys = [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter((found) => found[1] !== undefined)
  return entries.size > 0 && keys.length === entries.size ? entries : undefined
}

const isUrlList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= URLS_MAX &&
  value.every((url) => typeof url === 'string' && URL_FORM.test(url))

/** What a proposal says of a library or program. */
export type LibraryForm = Pick<OwnFields<'deploy_libeni'>, 'name' | 'version' | 'fileUrl' | 'md5'>

/** Name and version: given, and in their form. Source: protocol.md §6, deploy_libeni. */
export function checkName({ name, version }: LibraryForm): TxError | undefined {
  if (name === '' || version === '') return governanceErrors.insufficientParameters
  return NAME.test(name) && parseVersion(version) !== undefined ? undefined : governanceErrors.invalidLibrary
}

/** fileUrl and md5: JSON objects of the same OS names, in their form. Source: protocol.md §6, deploy_libeni. */
export function checkFiles({ fileUrl, md5 }: LibraryForm): TxError | undefined {
  const urls = perOs(fileUrl)
  if (urls === undefined || ![...urls.values()].every(isUrlList)) return governanceErrors.invalidFileUrl
  const sums = perOs(md5)
  const isSum = (value: unknown): boolean => typeof value === 'string' && MD5.test(value)
  return sums !== undefined && sums.size === urls.size && [...sums].every(([os, sum]) => urls.has(os) && isSum(sum))
    ? undefined
    : governanceErrors.invalidMd5
}

/** URLs and md5 (lower-case hex) of a well-formed library for this OS; undefined when it has none for it. */
export function fileFor(
  { fileUrl, md5 }: LibraryForm,
  os: string,
): { readonly urls: readonly string[]; readonly md5: string } | undefined {
  const [urls, sum] = [perOs(fileUrl)?.get(os), perOs(md5)?.get(os)]
  return urls === undefined ? undefined : { urls: urls as readonly string[], md5: String(sum).toLowerCase() }
}
