import { libraryFields, libraryOf, systemsOf } from './library.ts'
import type { OperationPage } from './operation.ts'

/** Proposes a library. */
export const proposeDeployLibEni: OperationPage<'proposeDeployLibEni'> = {
  title: 'Propose a library',
  words: (message) => ['propose to deploy the library ', libraryOf(message)],
  sentence: ({ name, version, fileUrl }) =>
    `Propose to deploy the library ${name} ${version} on ${systemsOf(fileUrl)}.`,
  fields: {
    ...libraryFields,
    deployBlockHeight: { label: 'Deployed at block' },
    deployTimestamp: { label: 'Deployed at' },
  },
}
