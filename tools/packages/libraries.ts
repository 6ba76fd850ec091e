import { cpSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Lockfile } from '../lockfile.ts'

/** What no program reads while it runs. The README of the package has the sizes (docs/decisions/0019). */
const LEFT_OUT: readonly RegExp[] = [
  /\/(?:tests?|benchmarks?|examples|docs|\.github)(?:\/|$)/,
  // Node refuses TypeScript in node_modules, and reads maps only when it is asked to.
  /\.(?:[cm]?ts|map|flow)$/,
  // Prebuilt programs are there. A package without a binding.gyp is also one that npm cannot decide to compile.
  /\.(?:c|cc|cpp|h|hpp|gyp|gypi)$/,
  // Systems and runtimes on which svcd does not run: libsodium's program for Linux needs glibc.
  /\.bare$|\/prebuilds\/(?:android|ios|linuxmusl)/,
  // Bundles for pages.
  /^protobufjs\/dist$/,
]
const isLicence = (path: string): boolean => /(?:licen[cs]e|notice|copying)[^/]*$/i.test(path)
const isLeftOut = (path: string): boolean =>
  LEFT_OUT.some((pattern) => pattern.test(path)) || (/\.(?:md|markdown)$/i.test(path) && !isLicence(path))

/**
 * Copies the libraries that the program runs on from the checkout's node_modules, in the versions of package-lock.json
 * and without what no program reads. Throws when one is not installed.
 */
export function copyLibraries(root: string, target: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile
  const needed = Object.entries(packages)
    .filter(([path, { dev, devOptional, peer, optional }]) => path !== '' && !(dev || devOptional || peer || optional))
    .map(([path]) => path)
  for (const path of needed) {
    cpSync(join(root, path), join(target, path), {
      recursive: true,
      // A library within a library is one of `needed` itself.
      filter: (from) => {
        const inside = relative(join(root, path), from)
        return !/^node_modules\b/.test(inside) && !isLeftOut(`${path.replace(/^.*node_modules\//, '')}/${inside}`)
      },
    })
  }
}
