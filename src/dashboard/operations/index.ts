import type { OperationName } from '../../client/gen/forms.ts'
import type { Words } from '../pieces.ts'
import type { Facts } from '../wallet/facts.ts'
import { acceptCandidacyAccountUpdate } from './acceptCandidacyAccountUpdate.ts'
import { activateCandidacy } from './activateCandidacy.ts'
import { deactivateCandidacy } from './deactivateCandidacy.ts'
import { declareCandidacy } from './declareCandidacy.ts'
import { delegate } from './delegate.ts'
import type { FieldText, Input, Message, OperationPage, Outflow } from './operation.ts'
import { proposeChangeParam } from './proposeChangeParam.ts'
import { proposeDeployLibEni } from './proposeDeployLibEni.ts'
import { proposeRetireProgram } from './proposeRetireProgram.ts'
import { proposeTransferFund } from './proposeTransferFund.ts'
import { proposeUpgradeProgram } from './proposeUpgradeProgram.ts'
import { transfer } from './transfer.ts'
import { updateCandidacy } from './updateCandidacy.ts'
import { updateCandidacyAccount } from './updateCandidacyAccount.ts'
import { verifyCandidacy } from './verifyCandidacy.ts'
import { vote } from './vote.ts'
import { withdraw } from './withdraw.ts'
import { withdrawCandidacy } from './withdrawCandidacy.ts'

/** Every operation. The compiler demands a file of each. */
const operations: { readonly [O in OperationName]: OperationPage<O> } = {
  declareCandidacy,
  updateCandidacy,
  withdrawCandidacy,
  activateCandidacy,
  deactivateCandidacy,
  updateCandidacyAccount,
  acceptCandidacyAccountUpdate,
  verifyCandidacy,
  delegate,
  withdraw,
  proposeChangeParam,
  proposeDeployLibEni,
  proposeRetireProgram,
  proposeUpgradeProgram,
  proposeTransferFund,
  vote,
  transfer,
}

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name)

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

/** What a request does, in the sentence that a reader signs. */
export const sentenceOf = <O extends OperationName>({ operation, input }: TxRequest<O>, facts: Facts): string =>
  operations[operation].sentence(input, facts)

/** What a request takes from the balance beside its fee; undefined where it takes nothing. */
export const outflowOf = <O extends OperationName>(
  { operation, input }: TxRequest<O>,
  facts: Facts,
): Outflow | undefined => operations[operation].outflow?.(input, facts)

/** What of the chain a request is shown with. */
export const needsOf = <O extends OperationName>({ operation, input }: TxRequest<O>) =>
  operations[operation].needs?.(input) ?? {}

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
