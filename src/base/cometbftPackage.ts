/** The packages that bring CometBFT, one for each kind of machine. tools/packages/cometbft.ts makes them. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The kinds of machine for which CometBFT is published, as Node names them. */
export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'] as const

/** One of them. */
export type Platform = (typeof PLATFORMS)[number]

const HERE = `${process.platform}-${process.arch}`

/** The kinds of machine that this one is: none or one. */
export const platformsHere: readonly Platform[] = PLATFORMS.filter((platform) => platform === HERE)

/** The package for a kind of machine. Its program is in the folder `bin`. */
export const platformPackage = (platform: string): string => `@svcd/cometbft-${platform}`

/** The file of a program on a kind of machine; by default of CometBFT on this one. */
export const programFile = (name = 'cometbft', platform = HERE): string =>
  platform.startsWith('win32') ? `${name}.exe` : name

/** The folders of the programs that npm has installed for this machine, as these files find them; by default, beside us. */
export function packagedFolders(from: readonly (string | URL)[] = [import.meta.url]): readonly string[] {
  return from.flatMap((file) => {
    try {
      const manifest = createRequire(file).resolve(`${platformPackage(HERE)}/package.json`)
      return [join(dirname(manifest), 'bin')]
    } catch {
      return []
    }
  })
}
