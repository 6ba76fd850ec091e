import { moduleOfEvent } from '../../../modules/event.ts'
import { txEntries } from '../../../modules/registry.ts'
import type { Method, MethodGroup } from './define.ts'
import { devnetMethods } from './devnet.ts'
import { foreignMethods } from './foreign.ts'
import { historyMethods } from './history.ts'
import { chainMethods, queryMethods } from './queries.ts'
import { subscribeMethods } from './subscribe.ts'
import { operationMethods, transactionMethods } from './transactions.ts'

/** The title of a module's operations; one that is not here has its own name. */
const TITLES: Readonly<Record<string, string>> = { stake: 'Validators', governance: 'Governance', accounts: 'Accounts' }

const moduleOf = new Map(txEntries.map(({ method, event }) => [method, moduleOfEvent(event.type)]))

/** The operations of the chain by module, in the order of the registry. */
const operationGroups: readonly MethodGroup[] = [...new Set(moduleOf.values())].map((module) => ({
  name: TITLES[module] ?? module,
  methods: operationMethods.filter(({ name }) => moduleOf.get(name) === module),
}))

/** Every method of the gateway, in groups. */
export const methodGroups: readonly MethodGroup[] = [
  ...operationGroups,
  { name: 'Queries', methods: queryMethods },
  { name: 'Transactions', methods: transactionMethods },
  { name: 'History', methods: historyMethods },
  { name: 'Subscriptions', methods: subscribeMethods },
  { name: 'Node and proofs', methods: chainMethods },
  { name: 'For tools of other chains', methods: foreignMethods },
  { name: 'Devnet', methods: devnetMethods },
]

/** Every method of the gateway. */
export const methods: readonly Method[] = methodGroups.flatMap((group) => group.methods)

/** A method by its name. */
export const methodOf: ReadonlyMap<string, Method> = new Map(methods.map((method) => [method.name, method]))
