import { tableOf } from './interfaceTables.ts'
import { signerRows } from './signerRows.ts'

/** What shows a row of docs/interface.md to be true: the title of a test in a file, or why there is none. */
export type Proof = { readonly file: string; readonly test: string } | { readonly exception: string }

const E2E = 'test/e2e/interface.test.ts'
const CLIENT = 'test/e2e/client.test.ts'
const MOVES = 'test/conformance/moves.test.ts'
const RULES = 'test/conformance/rules.test.ts'

/** One proof for several rows of a section. */
const of = (
  section: string,
  names: readonly string[],
  file: string,
  test: string,
): readonly (readonly [string, Proof])[] => names.map((name) => [`${section} · ${name}`, { file, test }])

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
const FILE_URL = 'fileUrl is a JSON string of an object of ubuntu and centos to arrays of URLs, and of nothing else'

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
      'no candidacy, declare: it exists, its owner is the sender, who paid the self-stake; a declared pubKey is refused',
    ],
    [
      'candidacy exists, update',
      'candidacy exists, update: only what is given changes; a description sets verified N; without a candidacy it is refused',
    ],
    [
      'candidacy exists, withdraw',
      'candidacy exists, withdraw: it is withdrawn and its key free for its owner; a second withdraw is refused',
    ],
    ['active validator, deactivate', 'active validator, deactivate: it leaves the set; a second deactivate is refused'],
    [
      'removed or deactivated validator, activate',
      'removed or deactivated validator, activate: both are active again; a second activate is refused',
    ],
    [
      'binding address A, updateAccount',
      'binding address A, updateAccount: the binding address stays until the new one accepts, and the request id is returned',
    ],
    [
      'update pending, acceptAccountUpdate',
      'update pending, acceptAccountUpdate: the new address is bound; one that cannot pay for the shares is refused',
    ],
    [
      'none, any propose operation',
      'none, any propose operation: unresolved with the ProposalID returned; who is no validator is refused',
    ],
    [
      'unresolved, vote with answer Y or N',
      'unresolved, vote: it is recorded and decides at two thirds of the power; who is no validator is refused',
    ],
    [
      'unresolved, expiry block reached',
      'unresolved, expiry block reached: Result is Expired and ResultBlockHeight the expiry block, not one earlier',
    ],
  ] as const
).flatMap(([name, test]) => of('States and transitions', [name], MOVES, test))

const endpoints = [
  ...of('web3.svc.stake.validator', ['declare'], E2E, ANSWERS_DECLARE),
  ...of(
    'web3.svc.stake.validator',
    ['update'],
    E2E,
    'update: svc_updateCandidacy sets what is given, and a description sets verified N',
  ),
  ...of('web3.svc.stake.validator', ['withdraw'], E2E, 'withdraw: svc_withdrawCandidacy ends the candidacy'),
  ...of('web3.svc.stake.validator', ['activate'], E2E, 'activate: svc_activateCandidacy sets active Y again'),
  ...of('web3.svc.stake.validator', ['deactivate'], E2E, 'deactivate: svc_deactivateCandidacy sets active N'),
  ...of('web3.svc.stake.validator', ['updateAccount', 'acceptAccountUpdate'], E2E, HAND_OVER),
  ...of('web3.svc.stake.validator', ['query'], E2E, FULL_VALIDATOR),
  ...of(
    'web3.svc.stake.validator',
    ['list'],
    E2E,
    'list: svc_queryValidators answers the head and every validator and candidate',
  ),
  ...of('web3.svc.governance', ['proposeChangeParam', 'vote'], E2E, CHANGE),
  ...of(
    'web3.svc.governance',
    ['proposeDeployLibEni'],
    E2E,
    'proposeDeployLibEni: the ProposalID is answered and the proposal listed',
  ),
  ...of(
    'web3.svc.governance',
    ['proposeRetireProgram'],
    E2E,
    'proposeRetireProgram: the ProposalID is answered and the proposal listed',
  ),
  ...of('web3.svc.governance', ['proposeUpgradeProgram'], E2E, 'proposeUpgradeProgram: is answered as not implemented'),
  ...of('web3.svc.governance', ['listProposals'], E2E, LISTED),
  ...of('web3.svc.governance', ['getParams'], E2E, PARAMS),
  ...of('web3.svc.governance', ['1'], RULES, FILE_URL),
  ...of(
    'web3.svc.governance',
    ['2'],
    RULES,
    'md5 is a JSON string of an object of ubuntu and centos to MD5s, and of nothing else',
  ),
  ...of(
    'web3.svc.governance',
    ['3', '4'],
    RULES,
    'a block height and a timestamp may not both be given, but either may',
  ),
  ...of(
    'web3.svc.governance',
    ['5'],
    RULES,
    'what is omitted is 60480 blocks ahead, for expiry, deployment and retirement',
  ),
]

const rules = [
  ...of('What the service does', ['1'], E2E, HAND_OVER),
  ...of('What the service does', ['2'], E2E, CHANGE),
  ...of('Authentication', ['1'], E2E, FROM),
  ...of('Authentication', ['2'], RULES, 'propose operations and vote of an account that is no validator are refused'),
  ...of(
    'Authentication',
    ['3'],
    RULES,
    'withdraw, activate, deactivate and updateAccount act on the candidacy of the sender, and on no other',
  ),
  ...of('Authentication', ['4'], E2E, ANSWERS_DECLARE),
  ...of(
    'Authentication',
    ['5'],
    RULES,
    'every operation of the interface is signed: bytes that another key signed are refused',
  ),
  except(
    'Authentication · 6',
    'the interface shows no access rules for queries; anyone may query (protocol.md §8), as all tests do',
  ),
  ...of('Limits', ['1'], RULES, 'what is omitted is 60480 blocks ahead, for expiry, deployment and retirement'),
  ...of('Limits', ['2'], RULES, 'a block height and a timestamp may not both be given, but either may'),
  ...of('Limits', ['3'], RULES, FILE_URL),
  ...of(
    'Limits',
    ['4'],
    RULES,
    'only one unresolved or approved retiring proposal exists at a time; a rejected one gives way',
  ),
  ...of('Limits', ['5'], E2E, 'query and list answer for the head, with its height, whatever height is asked'),
  ...of('Limits', ['6'], E2E, 'proposeUpgradeProgram: is answered as not implemented'),
  except(
    'Limits · 7',
    'the interface shows no figures; those of protocol.md are tested beside the modules and the gateway',
  ),
  ...of('Versioning', ['1'], RULES, 'a version has the form vX.Y.Z of non-negative integers'),
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
