import { chainMethods } from './chain.ts'
import type { Method } from './define.ts'
import { operationMethods } from './operations.ts'
import { getProof } from './proof.ts'
import { queryMethods } from './queries.ts'

/** Every method of the gateway. */
export const methods: readonly Method[] = [...operationMethods, ...queryMethods, ...chainMethods, getProof]

/** A method by its name. */
export const methodOf: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method.name, method]))
