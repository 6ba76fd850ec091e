import { createStore, useStore } from './data/store.ts'

/**
 * Where a reader is: the parts of the path behind `#/`, and the options behind `?`. The route stands behind `#`, so that
 * the page works at any address and every view can be linked to.
 */
export interface Route {
  readonly path: readonly string[]
  readonly options: URLSearchParams
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The route in the part of an address behind `#`. */
export function parseRoute(hash: string): Route {
  const [path = '', options = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  return { path: path.split('/').filter(Boolean).map(decode), options: new URLSearchParams(options) }
}

/** Base64 with the alphabet that needs no escape in a link. */
export const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** The link to a view; options that are undefined or empty are left out. */
export function linkTo(path: readonly (string | number)[], options: Readonly<Record<string, string | undefined>> = {}) {
  const given = Object.entries(options).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  )
  const search = new URLSearchParams(given).toString()
  return `#/${path.map((part) => encodeURIComponent(part)).join('/')}${search === '' ? '' : `?${search}`}`
}

const route = createStore(parseRoute(location.hash))
addEventListener('hashchange', () => route.set(parseRoute(location.hash)))

export const useRoute = (): Route => useStore(route)

export const goTo = (link: string): void => void (location.hash = link)

/** Changes options of the view in its address, without a new step in the browser's history. */
export function setOptions(changed: Readonly<Record<string, string | undefined>>): void {
  const { path, options } = route.get()
  const link = linkTo(path, { ...Object.fromEntries(options), ...changed })
  history.replaceState(history.state, '', link)
  route.set(parseRoute(link))
}
