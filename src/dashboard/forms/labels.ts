/** What the fields of operations are called in forms. What is not listed is called as the field is. */
const LABELS: Readonly<Record<string, string>> = {
  pubKey: "Public key of the validator's node",
  'description.name': 'Name',
  'description.website': 'Website',
  'description.location': 'Location',
  'description.email': 'Email',
  'description.profile': 'Profile',
  maxAmount: 'Max shares',
  compRate: 'Compensation rate',
  newCandidateAccount: 'New account',
  accountUpdateRequestId: 'Number of the request',
  candidateAddress: 'Account of the candidacy',
  verified: 'Verified',
  name: 'Name',
  value: 'Value',
  reason: 'Reason',
  version: 'Version',
  fileUrl: 'Files',
  md5: 'MD5 sums',
  preservedValidators: 'Preserved validators',
  transferFrom: 'From',
  transferTo: 'To',
  amount: 'Amount',
  proposalId: 'Proposal',
  answer: 'Answer',
  to: 'To',
}

const OF_OPERATION: Readonly<Record<string, string>> = {
  'transfer.value': 'Amount',
  'proposeChangeParam.name': 'Parameter',
  'proposeChangeParam.value': 'New value',
}

/** The label of a field of an operation. */
export const labelOf = (operation: string, name: string): string =>
  OF_OPERATION[`${operation}.${name}`] ?? LABELS[name] ?? name

/** What a field takes beyond its label; undefined where the label says it. */
const HINTS: Readonly<Record<string, string>> = {
  pubKey: 'base64 of 32 bytes, as svcd init or cometbft show-validator prints it',
  maxAmount: 'in tokens; you stake a part of it that self_staking_ratio sets',
  compRate: '0 to 1, such as 0.5',
  newCandidateAccount: '0x and 40 hex digits',
  to: '0x and 40 hex digits',
  transferFrom: 'your own account, or a present or earlier hold_account',
  transferTo: '0x and 40 hex digits',
  preservedValidators: 'public keys with commas between them; all other validators are deactivated',
}

/** The hint of a field. */
export const hintOf = (name: string): string | undefined => HINTS[name]
