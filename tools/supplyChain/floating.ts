import { goRequirements } from './locked.ts'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** Our own packages: the examples ask for them as their users do. */
const OWN = /^@svcd\//

/** The dependencies of a package.json that are not exact. What peers may have, and engines, are ranges by nature. */
function inManifest(text: string): string[] {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(text) as Manifest
  return [dependencies, devDependencies, optionalDependencies]
    .flatMap((named) => Object.entries(named ?? {}))
    .filter(([name, version]) => !OWN.test(name) && !EXACT.test(version))
    .map((entry) => entry.join('@'))
}

/** Go modules are exact by themselves. What a `replace` points to is neither pinned nor in go.sum when it is a folder. */
function inGoModule(text: string): string[] {
  const wrong = goRequirements(text).filter(([, version]) => !/^v\d+\.\d+\.\d+/.test(version))
  const replaced = text.match(/^replace .*=> [./].*$/gm) ?? []
  return [...wrong.map((entry) => entry.join(' ')), ...replaced]
}

/** An image is named with a version of what is in it; `svcd` is built here. */
const isImagePinned = (image: string): boolean =>
  image === 'svcd' || image.startsWith('$') || /:\d+\.?[\w.-]*-[a-z]/.test(image)

function inImages(text: string): string[] {
  const named = [
    ...text.matchAll(/^(?:ARG \w+_IMAGE=|FROM(?: --\S+)* )(\S+)/gm),
    ...text.matchAll(/^\s*(?:image|container): *['"]?([^\s'"]+)/gm),
  ]
  return named.map(([, image = '']) => image).filter((image) => !isImagePinned(image))
}

/** A tag of an action can be moved to another commit, a commit cannot. */
const inActions = (text: string): string[] =>
  [...text.matchAll(/\buses: *(\S+)/g)].map(([, action = '']) => action).filter((one) => !/@[\da-f]{40}$/.test(one))

/** What is read of a file, by the end of its path. */
const READERS: readonly (readonly [path: RegExp, read: (text: string) => string[]])[] = [
  [/(?:^|\/)package\.json$/, inManifest],
  [/(?:^|\/)go\.mod$/, inGoModule],
  [/(?:^|\/)(?:Dockerfile|docker-compose[^/]*\.yml)$/, inImages],
  [/\.github\/workflows\/[^/]+\.yml$/, (text) => [...inImages(text), ...inActions(text)]],
]

/** Everything in these files that may become another version by itself. `files`: from paths to texts. */
export function floating(files: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = []
  for (const [path, text] of files) {
    const [, read] = READERS.find(([pattern]) => pattern.test(path)) ?? []
    found.push(...(read?.(text) ?? []).map((what) => `${path}: ${what}`))
  }
  return found
}

/**
 * Manifests without a lock beside them, so that what they ask for may bring anything. The examples leave the lock to
 * their users, and a Go module that requires nothing needs none.
 */
export const unlocked = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files]
    .filter(([path]) => /(?:^|\/)(?:package\.json|go\.mod)$/.test(path) && !path.startsWith('examples/'))
    .filter(([path, text]) =>
      path.endsWith('go.mod')
        ? goRequirements(text).length > 0 && !files.has(path.replace(/mod$/, 'sum'))
        : !files.has(path.replace(/\.json$/, '-lock.json')),
    )
    .map(([path]) => path)
