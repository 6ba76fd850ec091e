import { build } from 'esbuild'

/**
 * The client of the package `name` for a page, minified: the code that it loads at first, and with `splitting` what it loads
 * on demand. `project`: where the package is installed. Nothing is written to `outdir`.
 */
export async function bundle(
  project: string,
  name: string,
  outdir: string,
  splitting: boolean,
): Promise<{ readonly first: string; readonly later: string }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `import { Svc } from '${name}'\nglobalThis.Svc = Svc`, resolveDir: project },
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    splitting,
    outdir,
    metafile: true,
  })
  const outputs = Object.entries(metafile.outputs)
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const reached = new Set<string>()
  const reach = (path: string): void => {
    if (reached.has(nameOf(path))) return
    reached.add(nameOf(path))
    for (const one of metafile.outputs[path]?.imports ?? [])
      if (one.kind === 'import-statement' && !one.external) reach(one.path)
  }
  reach(outputs.find(([, { entryPoint }]) => entryPoint?.includes('stdin'))?.[0] as string)
  const textOf = (isFirst: boolean): string =>
    outputFiles
      .filter(({ path }) => reached.has(nameOf(path)) === isFirst)
      .map(({ text }) => text)
      .join('\n')
  return { first: textOf(true), later: textOf(false) }
}
