/** A global that differs between nodes. */
export const use_Date: unknown = Date // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_process: unknown = process // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_fetch: unknown = fetch // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_setTimeout: unknown = setTimeout // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_setInterval: unknown = setInterval // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_setImmediate: unknown = setImmediate // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_queueMicrotask: unknown = queueMicrotask // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_crypto: unknown = crypto // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_performance: unknown = performance // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_Intl: unknown = Intl // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_navigator: unknown = navigator // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_WeakRef: unknown = WeakRef // red: noRestrictedGlobals
/** A global that differs between nodes. */
export const use_FinalizationRegistry: unknown = FinalizationRegistry // red: noRestrictedGlobals
