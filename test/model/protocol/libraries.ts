import { INVALID, need } from './operation.ts'
import type { State } from './state.ts'
import type { Message } from './wire.ts'

/** The forms of a library proposal. Source: protocol.md §6, deploy_libeni, and §11. */

const NAME = /^[a-z0-9_-]{1,64}$/
const VERSION = /^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/
const URL_FORM = /^https?:\/\/[!-~]+$/i

/** X, Y and Z of a version; undefined for text that is none. */
function versionOf(text: string): bigint[] | undefined {
  const numbers = VERSION.exec(text)?.slice(1).map(BigInt)
  return numbers?.every((number) => number <= BigInt(Number.MAX_SAFE_INTEGER)) ? numbers : undefined
}

function isAbove(version: readonly bigint[], other: readonly bigint[]): boolean {
  const at = version.findIndex((number, index) => number !== other[index])
  return at >= 0 && (version[at] as bigint) > (other[at] as bigint)
}

/** The members of a JSON object whose keys are ubuntu and centos, each at most once; undefined for other text. */
function osMembers(text: string): Map<string, unknown> | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  const members = new Map(Object.entries(parsed))
  // A key that stands twice is there once after JSON.parse, but each has its colon outside of strings.
  const colons = (text.match(/"(?:[^"\\]|\\.)*"|:/g) ?? []).filter((token) => token === ':').length
  const isRight = [...members.keys()].every((key) => key === 'ubuntu' || key === 'centos')
  return isRight && members.size > 0 && colons === members.size ? members : undefined
}

/** The operating systems of a fileUrl; undefined when it has another form. */
function osOfFileUrl(text: string): string[] | undefined {
  const members = osMembers(text)
  const isUrls = (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= 8 &&
    value.every((url) => typeof url === 'string' && URL_FORM.test(url))
  return members !== undefined && [...members.values()].every(isUrls) ? [...members.keys()].sort() : undefined
}

function osOfMd5(text: string): string[] | undefined {
  const members = osMembers(text)
  const isMd5 = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{32}$/i.test(value)
  return members !== undefined && [...members.values()].every(isMd5) ? [...members.keys()].sort() : undefined
}

interface Library {
  readonly name: string
  readonly version: string
  readonly fileUrl: string
  readonly md5: string
}

/**
 * The own rules of a library proposal, in order; `state` is left out for one of a program, where only the forms count.
 * `os`: of the node, in CheckTx.
 */
export function checkLibrary(message: Message, state?: State, os?: string): void {
  const { name, version, fileUrl, md5 } = message as unknown as Library
  need(name !== '' && version !== '', 20, 'Insufficient parameters')
  const numbers = versionOf(version)
  need(NAME.test(name) && numbers !== undefined, 20, 'Invalid ENI lib name or version')
  const ofName = (state?.proposals ?? []).filter(
    ({ type, detail }) => type === 'deploy_libeni' && detail['name'] === name,
  )
  const deployed = ofName.filter(({ result, pending }) => result === 'Approved' && !pending)
  const isNew = deployed.every(({ detail }) => isAbove(numbers, versionOf(detail['version'] as string) ?? []))
  need(isNew, 20, 'Invalid ENI lib name or version')
  need(!ofName.some(({ pending }) => pending), 20, 'One or more ongoing proposals with the same lib name')
  const systems = osOfFileUrl(fileUrl)
  need(systems !== undefined, 20, 'The fileurl is not a valid json')
  need(osOfMd5(md5)?.join() === systems.join(), 20, 'The md5 is not a valid json')
  need(os === undefined || systems.includes(os), 20, 'Can not find fileurl for current os')
}

/** Check 5 of a library or program. */
export function checkLibraryLengths({ fileUrl, md5 }: Message): void {
  for (const text of [fileUrl, md5]) need(Buffer.byteLength(text as string) <= 4096, 20, INVALID)
}
