import { catalogue } from '../../base/txError.ts'

/** Every way a candidacy operation fails, with the exact log. Misspelt logs are the interface's. */
export const stakeErrors = catalogue({
  pubKeyDeclared: [1, 'pubkey has been declared', 'interface: Errors, declare'],
  addressDeclared: [1, 'address has been declared', 'protocol.md §3, declare'],
  noCandidacyToEdit: [1, 'cannot edit non-exsits candidacy', 'interface: Errors, update (sic)'],
  noCandidacyToWithdraw: [1, 'cannot withdraw non-exsits candidacy', 'interface: Errors, withdraw (sic)'],
  noCandidacyToDeactivate: [1, 'cannot deactivate non-exsits candidacy', 'protocol.md §3, deactivate (sic)'],
  noCandidacyToActivate: [1, 'cannot activate non-exsits candidacy', 'protocol.md §3, activate (sic)'],
  alreadyDeactivated: [1, 'already deactivated', 'interface: Errors, deactivate'],
  alreadyActivated: [1, 'already activated', 'interface: Errors, activate'],
  insufficientBondShares: [20, 'Insufficient bond shares', 'interface: Errors, acceptAccountUpdate'],
  badRequest: [21, 'Bad request', 'interface: Errors, updateAccount'],
  verificationDisallowed: [3, 'Verification disallowed', 'protocol.md §3, verify'],
  unknownCandidacy: [5, 'unknown candidacy', 'protocol.md §3, verify'],
})
