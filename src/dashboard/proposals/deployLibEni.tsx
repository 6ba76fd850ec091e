import type { ProposalOf } from '../data/proposals.ts'
import { FilesField, problemsOfFiles } from '../forms/FilesField.tsx'
import { libraryFields, libraryOf, systemsOf } from '../operations/library.ts'
import { dueAt, type OperationPage, proposalOf } from '../operations/operation.ts'
import { Facts } from '../parts/layout.tsx'
import { LibraryFiles } from '../parts/LibraryFiles.tsx'
import { Badge, type Tone } from '../parts/text.tsx'
import { piece } from '../pieces.ts'
import type { KindPage } from './kind.tsx'

/** What became of a library on the node behind this gateway, in words. Source: protocol.md §7. */
const LIBRARY_STATUS: Readonly<Record<string, readonly [Tone, string]>> = {
  init: ['waiting', 'The node has not fetched the file yet.'],
  ready: ['good', 'The node has fetched the file, its MD5 is right, and it waits for its point.'],
  failed: ['bad', 'The node could not fetch the file so far; it tries again.'],
  deployed: ['good', 'The library is in place on the node.'],
  collapsed: ['bad', 'It was approved, but the node did not have the file at its point. It goes on trying.'],
  rejected: ['plain', 'The node keeps no file, because the proposal was not approved.'],
}

function Changes({ proposal: { Detail: detail } }: { readonly proposal: ProposalOf<'deploy_libeni'> }) {
  const [tone, status] = LIBRARY_STATUS[detail.status] ?? ['plain', '']
  return (
    <Facts
      facts={{
        Library: <span class='mono'>{detail.name}</span>,
        Version: <span class='mono'>{detail.version}</span>,
        Files: <LibraryFiles fileUrl={detail.fileurl} md5={detail.md5} />,
        'On this node': (
          <>
            <Badge tone={tone}>{detail.status}</Badge> {status}
          </>
        ),
      }}
    />
  )
}

export const deployLibEni: KindPage<ProposalOf<'deploy_libeni'>> = {
  title: 'Library',
  doc: 'Deploys a native library. Every node fetches the file for its own system, and puts it in place where the proposal ends.',
  isDelayed: true,
  sentence: ({ name, version }) => `Deploy the library ${name} ${version}`,
  effect: ({ name, version }) => `deploys the library ${name} ${version}`,
  columns: { fileurl: 'file_url' },
  Changes,
  useForm: () => ({
    operation: 'proposeDeployLibEni',
    check: problemsOfFiles,
    custom: { fileUrl: (field) => <FilesField field={field} />, md5: null },
  }),
}

export const proposeDeployLibEni: OperationPage<'proposeDeployLibEni'> = {
  title: 'Propose a library',
  words: (message) => ['propose to deploy the library ', libraryOf(message)],
  happened: ({ name, ...of }) => ['proposed to deploy the library ', piece('stranger', name), ': ', proposalOf(of)],
  sentence: ({ name, version, fileUrl }) =>
    `Propose to deploy the library ${name} ${version} on ${systemsOf(fileUrl)}.`,
  due: ({ deployBlockHeight: height, deployTimestamp: time }, facts) => dueAt('Carried out', [height, time], facts),
  fields: {
    ...libraryFields,
    deployBlockHeight: { label: 'Deployed at block' },
    deployTimestamp: { label: 'Deployed at' },
  },
}
