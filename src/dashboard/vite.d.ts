declare module '*.css'

/** The address of a module that Vite makes a worker of. */
declare module '*?worker&url' {
  const url: string
  // biome-ignore lint/style/noDefaultExport: it is Vite that exports it so.
  export default url
}
