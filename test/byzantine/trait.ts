/** What the application of a node does otherwise. A campaign passes it to preload.ts in a variable of the environment. */

/** What an application does otherwise than an honest one; nothing of it where a member is missing. */
export interface Trait {
  /** It proposes what proposals.ts makes of this seed, a line about each in the file `log`, and accepts all proposals. */
  readonly proposes?: { readonly seed: number; readonly log: string; readonly tooMuchAfter: number }
  /** It lies about its snapshots, as the forgery (forgeries.ts) says whose name this file holds. */
  readonly offers?: string
  /** A mistake that the campaigns must find: proposals are not judged. */
  readonly acceptsAll?: boolean
  /** Another one: evidence is ignored. */
  readonly ignoresEvidence?: boolean
}

/** The variable of the environment. */
export const TRAIT_VARIABLE = 'TEST_BYZANTINE'

/** The environment of an application with this trait. */
export const envOf = (trait: Trait): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import ${new URL('./preload.ts', import.meta.url).href} --disable-warning=ExperimentalWarning`,
  [TRAIT_VARIABLE]: JSON.stringify(trait),
})
