import { ruledText, text } from '../../../tx/members.ts'
import { defineTx } from '../../define.ts'
import { governanceErrors } from '../errors.ts'
import { deployedVersion, hasOngoingLibrary } from '../keeper.ts'
import { checkFiles, checkName, hasFileFor, isAbove } from '../library.ts'
import { pointHeight, pointTimestamp, propose, reason } from './propose.ts'

/** Members that name a library or a program and its files. Source: interface, Rules for the propose payloads. */
export const libraryMembers = {
  name: ruledText('name: [a-z0-9_-], at most 64'),
  version: ruledText('version, vX.Y.Z'),
  fileUrl: text(4096),
  md5: text(4096),
  reason: reason(),
}

/**
 * Proposes to deploy a native library; only CheckTx asks for the node's OS. Source: interface, proposeDeployLibEni;
 * protocol.md §6.
 */
export const proposeDeployLibEni = defineTx({
  operation: 'proposeDeployLibEni',
  method: 'svc_proposeDeployLibEni',
  call: 'governance.proposeDeployLibEni',
  event: 'svc.governance.proposeDeployLibEni',
  doc: 'Proposes to deploy a native library: fileUrl and md5 are JSON objects in text, by OS name (ubuntu, centos).',
  input: {
    ...libraryMembers,
    deployBlockHeight: pointHeight('the library is deployed'),
    deployTimestamp: pointTimestamp('the library is deployed'),
  },
  returns: 'ProposalID',
  gas: (params) => params.governanceProposal,
  execute: (context, message) => {
    const { name, version, fileUrl, md5 } = message
    return propose(context, {
      type: 'deploy_libeni',
      point: { height: message.deployBlockHeight, timestamp: message.deployTimestamp },
      row: { name, version, fileUrl, md5, reason: message.reason ?? '' },
      rules: () => {
        const { state, node } = context
        const misnamed = checkName(message)
        if (misnamed !== undefined) return misnamed
        const deployed = deployedVersion(state, name)
        if (deployed !== undefined && !isAbove(version, deployed)) return governanceErrors.invalidLibrary
        if (hasOngoingLibrary(state, name)) return governanceErrors.ongoingLibrary
        return (
          checkFiles(message) ??
          (node !== undefined && !hasFileFor(fileUrl, node.os) ? governanceErrors.noFileUrlForOs : undefined)
        )
      },
    })
  },
})
