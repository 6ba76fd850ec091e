import { catalogue } from '../../base/txError.ts'

/** Every way a candidacy operation fails, with the exact log. Misspelt logs are the interface's. */
export const stakeErrors = catalogue({
  pubKeyDeclared: { code: 1, log: 'pubkey has been declared', source: 'interface: Errors, declare' },
  addressDeclared: { code: 1, log: 'address has been declared', source: 'protocol.md §3, declare' },
  noCandidacyToEdit: { code: 1, log: 'cannot edit non-exsits candidacy', source: 'interface: Errors, update (sic)' },
  noCandidacyToWithdraw: {
    code: 1,
    log: 'cannot withdraw non-exsits candidacy',
    source: 'interface: Errors, withdraw (sic)',
  },
  noCandidacyToDeactivate: {
    code: 1,
    log: 'cannot deactivate non-exsits candidacy',
    source: 'protocol.md §3, deactivate (sic)',
  },
  noCandidacyToActivate: {
    code: 1,
    log: 'cannot activate non-exsits candidacy',
    source: 'protocol.md §3, activate (sic)',
  },
  alreadyDeactivated: { code: 1, log: 'already deactivated', source: 'interface: Errors, deactivate' },
  alreadyActivated: { code: 1, log: 'already activated', source: 'interface: Errors, activate' },
  insufficientBondShares: {
    code: 20,
    log: 'Insufficient bond shares',
    source: 'interface: Errors, acceptAccountUpdate',
  },
  badRequest: { code: 21, log: 'Bad request', source: 'interface: Errors, updateAccount' },
  verificationDisallowed: { code: 3, log: 'Verification disallowed', source: 'protocol.md §3, verify' },
  unknownCandidacy: { code: 5, log: 'unknown candidacy', source: 'protocol.md §3, verify' },
})
