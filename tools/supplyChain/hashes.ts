import type { Lockfile } from '../lockfile.ts'

/**
 * Tools whose native packages for other machines have no hash in the lock files, because the registry that npm wrote
 * them from does not carry these packages. SECURITY.md names them.
 */
const UNHASHED = /(?:^|\/)node_modules\/@(?:biomejs|oxc-parser|rollup|swc|unrs)\/[\w-]+$/

type Entry = Lockfile['packages'][string]

/** True for what npm installs, if at all, on other systems than Linux with glibc on x64 or arm64. */
const isForOthers = ({ optional, os = [], cpu = [], libc = [] }: Entry): boolean =>
  optional === true &&
  os.length > 0 &&
  !(os.includes('linux') && ['x64', 'arm64'].some((one) => cpu.includes(one)) && !libc.includes('musl'))

/** The packages in the lock files without a hash with which npm can compare what it fetched, but for the known ones. */
export const unhashed = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files]
    .filter(([path]) => path.endsWith('package-lock.json'))
    .flatMap(([path, text]) =>
      Object.entries((JSON.parse(text) as Lockfile).packages)
        .filter(([folder, { integrity }]) => folder !== '' && integrity === undefined)
        .filter(([folder, entry]) => !(UNHASHED.test(folder) && isForOthers(entry)))
        .map(([folder]) => `${path}: ${folder}`),
    )
