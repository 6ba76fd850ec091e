import type { OperationName } from '../../client/gen/forms.ts'
import { visibleText } from '../marks.ts'
import type { Words } from '../pieces.ts'
import type { Facts } from '../wallet/facts.ts'
import { operationPages as operations } from './gen/pages.ts'
import type { FieldText, Input, Message, OperationPage } from './operation.ts'

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name)

export const operationNames = Object.keys(operations) as readonly OperationName[]

/** An operation with what it is given, as the wallet shows and signs it. */
export interface TxRequest<O extends OperationName = OperationName> {
  readonly operation: O
  readonly input: Input<O>
}

/** The name of an operation as titles and columns have it. `operation`: null for bytes that are no transaction. */
export function operationTitle(operation: string | null): string {
  if (operation === null) return 'No transaction'
  return isOperation(operation) ? operations[operation].title : operation
}

/** What an operation asks the chain to do: `send 5 token to 0x…`. */
export function operationWords(operation: string | null, message: Message | null): Words {
  if (operation === null) return ['bytes that are no transaction']
  return isOperation(operation) ? operations[operation].words(message ?? {}) : [operation]
}

/** What the event of an operation says, without who did it. */
export const happened = (operation: OperationName, attributes: Message): Words =>
  operations[operation].happened(attributes as never)

/** What a request does, in the sentence that a reader signs. A stranger may have written the request. */
export const sentenceOf = <O extends OperationName>({ operation, input }: TxRequest<O>, facts: Facts): string =>
  visibleText(operations[operation].sentence(input, facts))

/** What the page says of the operation of a request. */
export const pageOf = <O extends OperationName>({ operation }: TxRequest<O>): OperationPage<O> => operations[operation]

function fieldOf(operation: string, name: string): FieldText | undefined {
  const fields: Readonly<Record<string, FieldText>> = isOperation(operation) ? operations[operation].fields : {}
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The label of a field of an operation; one inside another is named `description.name`. */
export function labelOf(operation: string, path: string): string {
  const [name = '', inner] = path.split('.', 2)
  const field = fieldOf(operation, name)
  return inner === undefined ? (field?.label ?? name) : (field?.inner?.[inner] ?? inner)
}

/** What a field takes beyond its label; undefined where the label says it. */
export const hintOf = (operation: string, name: string): string | undefined => fieldOf(operation, name)?.hint
