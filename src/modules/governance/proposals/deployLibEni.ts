import type { TxError } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { isAbove, LIBRARY_NAME, VERSION } from '../../../values/library.ts'
import { text, textOf } from '../../../values/text.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { limited } from '../../../values/valueType.ts'
import type { TxContext } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { governanceErrors } from '../errors.ts'
import { deployedVersion, hasOngoingLibrary } from '../keeper.ts'
import { checkFiles, checkName, fileFor, type LibraryForm } from '../library.ts'
import { type LibraryStatus, libraryStatusType, type ProposalOf } from '../tables.ts'
import { defineProposal, pointHeight, pointTimestamp, propose, type ProposalKind, reason } from './proposal.ts'

declare module '../tables.ts' {
  interface OwnColumns {
    readonly deploy_libeni: 'name' | 'version' | 'fileUrl' | 'md5'
  }
}

/** Fields that name a library or a program and its files. Source: interface, Rules for the propose payloads. */
export const libraryMembers = {
  name: field(limited(text, { pattern: LIBRARY_NAME.source }), 'name: [a-z0-9_-], at most 64'),
  version: field(limited(text, { pattern: VERSION.source }), 'version, vX.Y.Z'),
  fileUrl: field(textOf(4096)),
  md5: field(textOf(4096)),
  reason: reason(),
}

/** Only CheckTx asks for the node's OS. Source: interface, proposeDeployLibEni; protocol.md §6. */
export const proposeDeployLibEni = defineProposal({
  operation: 'proposeDeployLibEni',
  doc: 'Proposes to deploy a native library: fileUrl and md5 are JSON objects in text, by OS name (ubuntu, centos).',
  input: {
    ...libraryMembers,
    deployBlockHeight: pointHeight('the library is deployed'),
    deployTimestamp: pointTimestamp('the library is deployed'),
  },
  event: defineEvent({
    type: 'svc.governance.proposeDeployLibEni',
    attributes: ['proposal_id', 'name'],
    doc: 'A native library was proposed.',
  }),
  execute: (context, message) => {
    const { name, version, fileUrl, md5 } = message
    return propose(context, {
      fields: { type: 'deploy_libeni', name, version, fileUrl, md5 },
      reason: message.reason,
      height: message.deployBlockHeight,
      timestamp: message.deployTimestamp,
      rules: () => checkLibrary(context, message),
      attributes: { name },
    })
  },
})

function checkLibrary({ state, node }: TxContext, message: LibraryForm): TxError | undefined {
  const misnamed = checkName(message)
  if (misnamed !== undefined) return misnamed
  const deployed = deployedVersion(state, message.name)
  if (deployed !== undefined && !isAbove(message.version, deployed)) return governanceErrors.invalidLibrary
  if (hasOngoingLibrary(state, message.name)) return governanceErrors.ongoingLibrary
  const malformed = checkFiles(message)
  if (malformed !== undefined) return malformed
  return node === undefined || fileFor(message, node.os) !== undefined ? undefined : governanceErrors.noFileUrlForOs
}

const shape = record('LibraryDeploymentDetail', {
  name: text,
  version: text,
  fileurl: text,
  md5: text,
  reason: text,
  status: libraryStatusType,
})

/** What happens to the file at the point is each node's own, outside consensus. Source: protocol.md §6, §7. */
export const deployLibEni: ProposalKind<'deploy_libeni', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at its point',
  carryOut: (_state, _block, proposal) => ({ proposal }),
  detail: (proposal, libraryStatus) => {
    const { name, version, fileUrl, md5, reason: why } = proposal
    return { name, version, fileurl: fileUrl, md5, reason: why, status: libraryStatus ?? statusOf(proposal) }
  },
}

/** The status that a node shows which keeps none of its own for the library. */
function statusOf({ result, pending }: ProposalOf<'deploy_libeni'>): LibraryStatus {
  if (result === 'Rejected' || result === 'Expired') return 'rejected'
  return result === 'Approved' && !pending ? 'collapsed' : 'init'
}
