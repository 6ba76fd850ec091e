import { libraryFields, libraryOf } from './library.ts'
import { type OperationPage, proposalOf } from './operation.ts'

export const proposeUpgradeProgram: OperationPage<'proposeUpgradeProgram'> = {
  title: 'Propose an upgrade',
  words: (message) => ['propose to upgrade the program to ', libraryOf(message)],
  happened: (of) => ['proposed to upgrade the program: ', proposalOf(of)],
  sentence: ({ name, version }) =>
    `Propose to upgrade the program to ${name} ${version}, which this chain always refuses.`,
  fields: { ...libraryFields, upgradeBlockHeight: { label: 'Upgrades at block' } },
}
