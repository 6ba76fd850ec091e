import type { Method } from './define.ts'
import { chainMethods, queryMethods } from './queries.ts'
import { operationMethods, transactionMethods } from './transactions.ts'

/** Every method of the gateway. */
export const methods: readonly Method[] = [...operationMethods, ...queryMethods, ...transactionMethods, ...chainMethods]

/** A method by its name. */
export const methodOf: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method.name, method]))
