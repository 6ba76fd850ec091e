/** A type. */
export interface Shape { label?: string }
