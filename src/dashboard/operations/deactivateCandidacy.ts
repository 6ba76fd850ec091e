import type { OperationPage } from './operation.ts'

export const deactivateCandidacy: OperationPage<'deactivateCandidacy'> = {
  title: 'Deactivate',
  words: () => ['deactivate the candidacy'],
  happened: () => ['deactivated the candidacy'],
  sentence: () => 'Deactivate your candidacy. Its shares stay, and it earns nothing until you activate it again.',
  fields: {},
}
