import { txEntries } from '../../modules/registry.ts'
import type { Method, MethodGroup } from './define.ts'
import { devnetMethods } from './devnet.ts'
import { foreignMethods } from './foreign.ts'
import { historyMethods } from './history.ts'
import { chainMethods, queryMethods } from './queries.ts'
import { subscribeMethods } from './subscribe.ts'
import { operationMethods, transactionMethods } from './transactions.ts'

const areaOf = new Map(txEntries.map(({ method, call }) => [method, call.split('.')[0]]))
const operationsOf = (area: string): readonly Method[] =>
  operationMethods.filter(({ name }) => areaOf.get(name) === area)

/** Every method of the gateway, in groups. */
export const methodGroups: readonly MethodGroup[] = [
  { name: 'Validators', methods: operationsOf('stake') },
  { name: 'Governance', methods: operationsOf('governance') },
  { name: 'Accounts', methods: operationsOf('transfer') },
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
