import { catalogue } from '../../base/txError.ts'

/** Every way a governance operation fails, with the exact log. */
export const governanceErrors = catalogue({
  invalidValidator: [20, 'Invalid validator', 'protocol.md §6'],
  oneExpirationAtMost: [20, 'Provide one expiration at most', 'protocol.md §6, expiry rules'],
  invalidExpireHeight: [20, 'Invalid expire block height', 'protocol.md §6, expiry rules'],
  invalidExpireTimestamp: [20, 'Invalid expire timestamp', 'protocol.md §6, expiry rules'],
  tooManyOpen: [20, 'Too many open proposals', 'protocol.md §6, open limits'],
  unknownProposal: [20, 'Invalid parameter: unknown proposal', 'protocol.md §6, vote'],
  invalidAnswer: [20, 'Invalid parameter: answer must be Y or N', 'protocol.md §6, vote'],
  proposalApproved: [20, 'The proposal has been approved', 'protocol.md §6, vote'],
  proposalRejected: [20, 'The proposal has been rejected', 'protocol.md §6, vote'],
  proposalExpired: [20, 'The proposal has been expired', 'protocol.md §6, vote'],
  insufficientParameters: [20, 'Insufficient parameters', 'protocol.md §6, deploy_libeni'],
  invalidLibrary: [20, 'Invalid ENI lib name or version', 'protocol.md §6, deploy_libeni'],
  ongoingLibrary: [20, 'One or more ongoing proposals with the same lib name', 'protocol.md §6, deploy_libeni'],
  invalidFileUrl: [20, 'The fileurl is not a valid json', 'protocol.md §6, deploy_libeni'],
  invalidMd5: [20, 'The md5 is not a valid json', 'protocol.md §6, deploy_libeni'],
  noFileUrlForOs: [20, 'Can not find fileurl for current os', 'interface: Errors, proposeDeployLibEni'],
  standingRetirement: [20, 'Found unresolved or approved retiring proposal', 'interface: Errors, proposeRetireProgram'],
  upgradeNotImplemented: [4, 'proposeUpgradeProgram is not implemented', 'interface: Limits 6; protocol.md §6'],
})
