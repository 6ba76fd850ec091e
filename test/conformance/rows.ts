import { tableOf } from './interfaceTables.ts'
import { signerRows } from './signerRows.ts'

/** What shows a row of docs/interface.md to be true: the title of a test in a file, or why there is none. */
export type Proof = { readonly file: string; readonly test: string } | { readonly exception: string }

const E2E = 'test/e2e/interface.test.ts'
const CLIENT = 'test/e2e/client.test.ts'
const WITHDRAW = 'test/modules/stake/withdrawActivate.test.ts'
const ACCOUNT_UPDATE = 'test/modules/stake/accountUpdate.test.ts'
const LIVES = 'test/modules/governance/lives.test.ts'
const DEPLOY = 'test/modules/governance/deploy.test.ts'
const ERRORS = 'test/modules/governance/errors.test.ts'

/** One proof for several rows of a section. */
const of = (
  section: string,
  names: readonly string[],
  file: string,
  test: string,
): readonly (readonly [string, Proof])[] => names.map((name) => [`${section} · ${name}`, { file, test }])

/** Proofs of one section, each for several rows. */
const ofAll = (
  section: string,
  rows: readonly (readonly [names: readonly string[], file: string, test: string])[],
): readonly (readonly [string, Proof])[] => rows.flatMap((row) => of(section, ...row))

/** One proof for all rows of a table: the test reads the table. */
const all = (section: string, file: string, test: string): readonly (readonly [string, Proof])[] =>
  tableOf(section).map(({ key }) => [key, { file, test }])

const except = (key: string, exception: string): readonly [string, Proof] => [key, { exception }]

const ANSWERS_DECLARE = 'declare: svc_declareCandidacy makes the sender the owner and answers without data'
const CHANGE = 'proposeChangeParam and vote: the new value is in force in the block after the approval'
const HAND_OVER = 'updateAccount and acceptAccountUpdate: the request id binds the candidacy to the new address'
const REFUSED_HERE = '%s: CheckTx and a block refuse it with code and log, and nothing changes'
const REFUSED_BY_GATEWAY = '%s: a gateway answers code and log, and nothing is sent'
const FAILS_IN_BLOCK =
  'a transaction that fails only in its block has height 0, and code and log in deliver_tx too; its nonce is used up'
const FROM = 'from says who acts: without it, or without its key, nothing is sent'
const LISTED = 'listProposals: transfer_fund shows its Detail, and all are listed in the order of their blocks'
const NOT_IMPLEMENTED = 'proposeUpgradeProgram: is answered as not implemented'
const MOVES = 'they turn active off and on, change nothing else, and cost 21,000 gas each'
const OPEN = 'is open with nothing resolved, and shows what was sent'
const POINT = 'is a height or a timestamp, and not both: %s'
const FILES = 'are JSON strings of objects of ubuntu and centos to URLs and MD5s: %s %s'

const EXPIRED = 'a proposal that nobody votes on is Expired in the block of its ExpireBlockHeight'
const FULL_VALIDATOR = 'query: svc_queryValidator answers the head and every field of the validator object'
const PARAMS = 'getParams: svc_queryParams answers the head and every system parameter'

const objects = [
  ...all('Transaction result object', E2E, ANSWERS_DECLARE),
  ...all('Validator object', E2E, FULL_VALIDATOR),
  ...all('Proposal object', E2E, EXPIRED),
  ...all('System parameters object', E2E, PARAMS),
]

const moves = (
  [
    [
      'no candidacy for the pubKey, declare',
      'test/modules/stake/declare.test.ts',
      'the sender stakes a tenth of 10,000 tokens and every column has its first value',
    ],
    [
      'candidacy exists, update',
      'test/modules/stake/update.test.ts',
      'a given description sets verified N, and members it leaves out keep their value',
    ],
    ['candidacy exists, withdraw', WITHDRAW, 'the record is shown as Withdrawn with rank -1, and is not listed'],
    ['active validator, deactivate', WITHDRAW, MOVES],
    ['removed or deactivated validator, activate', WITHDRAW, MOVES],
    [
      'binding address A, updateAccount',
      ACCOUNT_UPDATE,
      'a PENDING request is made, its id is the data as decimal text, and the candidacy stays as it was',
    ],
    [
      'update pending, acceptAccountUpdate',
      ACCOUNT_UPDATE,
      'the new address pays the old one for the shares and owns the candidacy; the old address has none',
    ],
    ['none, any propose operation', LIVES, OPEN],
    ['unresolved, vote with answer Y or N', LIVES, 'is approved by two thirds that say Y, in that block'],
    [
      'unresolved, expiry block reached',
      LIVES,
      'expires in exactly the block of its height, with the tally of then, once',
    ],
  ] as const
).flatMap(([name, file, test]) => of('States and transitions', [name], file, test))

const endpoints = [
  ...ofAll('web3.svc.stake.validator', [
    [['declare'], E2E, ANSWERS_DECLARE],
    [['update'], E2E, 'update: svc_updateCandidacy sets what is given, and a description sets verified N'],
    [['withdraw'], E2E, 'withdraw: svc_withdrawCandidacy ends the candidacy'],
    [['activate'], E2E, 'activate: svc_activateCandidacy sets active Y again'],
    [['deactivate'], E2E, 'deactivate: svc_deactivateCandidacy sets active N'],
    [['updateAccount', 'acceptAccountUpdate'], E2E, HAND_OVER],
    [['query'], E2E, FULL_VALIDATOR],
    [['list'], E2E, 'list: svc_queryValidators answers the head and every validator and candidate'],
  ]),
  ...ofAll('web3.svc.governance', [
    [['proposeChangeParam', 'vote'], E2E, CHANGE],
    [['proposeDeployLibEni'], E2E, 'proposeDeployLibEni: the ProposalID is answered and the proposal listed'],
    [['proposeRetireProgram'], E2E, 'proposeRetireProgram: the ProposalID is answered and the proposal listed'],
    [['proposeUpgradeProgram'], E2E, NOT_IMPLEMENTED],
    [['listProposals'], E2E, LISTED],
    [['getParams'], E2E, PARAMS],
    [['1', '2'], DEPLOY, FILES],
    [['3', '4'], LIVES, POINT],
    [['5'], LIVES, OPEN],
  ]),
]

const rules = [
  ...of('What the service does', ['1'], E2E, HAND_OVER),
  ...of('What the service does', ['2'], E2E, CHANGE),
  ...of('Authentication', ['1'], E2E, FROM),
  ...of('Authentication', ['2'], ERRORS, '%s of a sender outside the set is refused before its other rules'),
  ...of('Authentication', ['3'], WITHDRAW, 'who has no candidacy moves none, and every refused move says its error'),
  ...of('Authentication', ['4'], E2E, ANSWERS_DECLARE),
  ...of('Authentication', ['5'], 'test/modules/kernel/admission.test.ts', '%s is no signature'),
  except(
    'Authentication · 6',
    'the interface shows no access rules for queries; anyone may query (protocol.md §8), as all tests do',
  ),
  ...of('Limits', ['1'], LIVES, OPEN),
  ...of('Limits', ['2'], LIVES, POINT),
  ...of('Limits', ['3'], DEPLOY, FILES),
  ...of('Limits', ['4'], ERRORS, 'retire: a standing one, open or approved, wins over the list'),
  ...of('Limits', ['5'], E2E, 'query and list answer for the head, with its height, whatever height is asked'),
  ...of('Limits', ['6'], E2E, NOT_IMPLEMENTED),
  except(
    'Limits · 7',
    'the interface shows no figures; those of protocol.md are tested beside the modules and the gateway',
  ),
  ...of('Versioning', ['1'], DEPLOY, 'name %j and version %j, of the form vX.Y.Z: %j'),
  except('Versioning · 2', 'the interface shows none'),
]

const errors = all('Errors', CLIENT, '%s: the result object is the first argument of the callback')

/** What stands in the interface outside its tables and lists, and the signers of protocol.md §13. */
const prose: readonly (readonly [string, Proof])[] = [
  ['Errors · a transaction that fails', { file: E2E, test: FAILS_IN_BLOCK }],
  ...signerRows('').flatMap(([name]) => [
    ...of('Signers', [`${name}, in process`], 'test/conformance/signers.test.ts', REFUSED_HERE),
    ...of('Signers', [`${name}, through a gateway`], 'test/e2e/wallets.test.ts', REFUSED_BY_GATEWAY),
  ]),
]

/** The proof of each row, by its key. A key twice would hide one of the two, so they stay a list. */
export const proofs: readonly (readonly [key: string, proof: Proof])[] = [
  ...objects,
  ...moves,
  ...endpoints,
  ...rules,
  ...errors,
]

/** Further proofs, of sentences. */
export const furtherProofs = prose
