/** The place for a log. */
export const stakeErrors = { pubKeyDeclared: { code: 1, log: 'pubkey has been declared' } }
