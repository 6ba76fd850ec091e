import { isObject } from '../base/json.ts'

/** The OS names that fileUrl and md5 may hold. Source: interface, Limits 3. */
export const OS_NAMES: readonly string[] = ['ubuntu', 'centos']

/** Most URLs of one OS. */
export const URLS_MAX = 8

/** The name of a library or program. */
export const LIBRARY_NAME = /^[a-z0-9_-]{1,64}$/

/** The form of a version; X, Y and Z may be too large for a number then. */
export const VERSION = /^v(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,15})$/

// Not `new URL`: what it takes changes with the Node version, and this is consensus.
const URL_FORM = /^https?:\/\/[!-~]+$/i

/** An MD5 in hex. */
export const MD5 = /^[0-9a-fA-F]{32}$/

/** X, Y and Z of vX.Y.Z, each 0 to 2^53 − 1 without leading zeros, or undefined. Source: interface, Versioning. */
export function parseVersion(version: string): readonly number[] | undefined {
  const parts = VERSION.exec(version)?.slice(1).map(Number)
  return parts?.every(Number.isSafeInteger) ? parts : undefined
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

/** True for an http or https URL as a library may have it. */
export const isUrl = (url: unknown): boolean => typeof url === 'string' && URL_FORM.test(url)

const isUrlList = (value: unknown): boolean =>
  Array.isArray(value) && value.length >= 1 && value.length <= URLS_MAX && value.every(isUrl)

/** The URLs of each OS. Undefined for what is not a JSON object of OS names and 1 to 8 http(s) URLs each. */
export function readFileUrl(json: string): ReadonlyMap<string, readonly string[]> | undefined {
  const urls = perOs(json)
  return urls !== undefined && [...urls.values()].every(isUrlList)
    ? (urls as ReadonlyMap<string, readonly string[]>)
    : undefined
}

/** The MD5 of the file of each OS; undefined for what is not a JSON object of OS names and 32 hex digits each. */
export function readMd5(json: string): ReadonlyMap<string, string> | undefined {
  const sums = perOs(json)
  return sums !== undefined && [...sums.values()].every((sum) => typeof sum === 'string' && MD5.test(sum))
    ? (sums as ReadonlyMap<string, string>)
    : undefined
}
