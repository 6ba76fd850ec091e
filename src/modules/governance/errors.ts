import { catalogue } from '../../base/txError.ts'

/** Every way a governance operation fails, with the exact log. */
export const governanceErrors = catalogue({
  invalidValidator: { code: 20, log: 'Invalid validator', source: 'protocol.md §6' },
  oneExpirationAtMost: { code: 20, log: 'Provide one expiration at most', source: 'protocol.md §6, expiry rules' },
  invalidExpireHeight: { code: 20, log: 'Invalid expire block height', source: 'protocol.md §6, expiry rules' },
  invalidExpireTimestamp: { code: 20, log: 'Invalid expire timestamp', source: 'protocol.md §6, expiry rules' },
  tooManyOpen: { code: 20, log: 'Too many open proposals', source: 'protocol.md §6, open limits' },
  unknownProposal: { code: 20, log: 'Invalid parameter: unknown proposal', source: 'protocol.md §6, vote' },
  invalidAnswer: { code: 20, log: 'Invalid parameter: answer must be Y or N', source: 'protocol.md §6, vote' },
  proposalApproved: { code: 20, log: 'The proposal has been approved', source: 'protocol.md §6, vote' },
  proposalRejected: { code: 20, log: 'The proposal has been rejected', source: 'protocol.md §6, vote' },
  proposalExpired: { code: 20, log: 'The proposal has been expired', source: 'protocol.md §6, vote' },
  insufficientParameters: { code: 20, log: 'Insufficient parameters', source: 'protocol.md §6, deploy_libeni' },
  invalidLibrary: { code: 20, log: 'Invalid ENI lib name or version', source: 'protocol.md §6, deploy_libeni' },
  ongoingLibrary: {
    code: 20,
    log: 'One or more ongoing proposals with the same lib name',
    source: 'protocol.md §6, deploy_libeni',
  },
  invalidFileUrl: { code: 20, log: 'The fileurl is not a valid json', source: 'protocol.md §6, deploy_libeni' },
  invalidMd5: { code: 20, log: 'The md5 is not a valid json', source: 'protocol.md §6, deploy_libeni' },
  noFileUrlForOs: {
    code: 20,
    log: 'Can not find fileurl for current os',
    source: 'interface: Errors, proposeDeployLibEni',
  },
  standingRetirement: {
    code: 20,
    log: 'Found unresolved or approved retiring proposal',
    source: 'interface: Errors, proposeRetireProgram',
  },
  upgradeNotImplemented: {
    code: 4,
    log: 'proposeUpgradeProgram is not implemented',
    source: 'interface: Limits 6; protocol.md §6',
  },
})
