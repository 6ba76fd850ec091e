/** The packages that bring CometBFT, one for each kind of machine. tools/packages/cometbft.ts makes them. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The kinds of machine for which CometBFT is published, as Node names them. */
export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'] as const

/** One of them. */
export type Platform = (typeof PLATFORMS)[number]

/** The package for a kind of machine. */
export const platformPackage = (platform: string): string => `@svcd/cometbft-${platform}`

/** The file of the program within its package. */
export const platformProgram = (platform: string): string =>
  join('bin', platform.startsWith('win32') ? 'cometbft.exe' : 'cometbft')

/** The folder of the program that npm has installed beside svcd for this machine; undefined when it has not. */
export function packagedFolder(): string | undefined {
  const platform = `${process.platform}-${process.arch}`
  try {
    const manifest = createRequire(import.meta.url).resolve(`${platformPackage(platform)}/package.json`)
    return dirname(join(dirname(manifest), platformProgram(platform)))
  } catch {
    return undefined
  }
}
