export { type ConnectedApplication, connectApplication } from './connect.ts'
export { createTestChain } from './createTestChain.ts'
export { type Call, createGrammar, type Dialect, firstViolation, type Grammar } from './grammar.ts'
export { type Random, random } from './random.ts'
export { type Requirement, RequirementError } from './requirementError.ts'
export type {
  ApplicationFactory,
  BlockOptions,
  TestBlock,
  TestChain,
  TestChainOptions,
  TestValidator,
} from './testChain.ts'
export { commitInfo, updateValidators, type ValidatorSet } from './validatorSets.ts'
