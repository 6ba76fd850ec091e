import type { TxEntry } from '../modules/define.ts'
import type { Member, Members } from '../tx/members.ts'
import { memberOptions } from './memberOptions.ts'

/**
 * The first three accounts of every devnet: they stand in the examples, which so run as they are against `svcd devnet`.
 */
const ACCOUNTS = [
  '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27',
  '0xe3ec4a3291a2afef136a1f347e8f5a596ae48497',
  '0x71393e106f41647667d267fff96bc8baa7c98d56',
] as const

const FILES = '\'{"ubuntu":["https://files.example/lib.so"],"centos":["https://files.example/lib.so"]}\''
const MD5S = '\'{"ubuntu":"d41d8cd98f00b204e9800998ecf8427e","centos":"d41d8cd98f00b204e9800998ecf8427e"}\''

/** Values by `operation.member`, or by a member's name wherever it occurs. */
const VALUES: Readonly<Record<string, string>> = {
  pubKey: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  'declareCandidacy.description-name': '"Alice\'s node"',
  'updateCandidacy.description-website': 'https://example.org',
  newCandidateAccount: ACCOUNTS[2],
  accountUpdateRequestId: '1',
  candidateAddress: ACCOUNTS[2],
  verified: 'Y',
  'proposeChangeParam.name': 'gas_price',
  value: '1000000000000000000',
  'proposeChangeParam.value': '3000000000',
  name: 'libsvc',
  version: 'v1.0.0',
  fileUrl: FILES,
  md5: MD5S,
  preservedValidators: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  transferFrom: ACCOUNTS[0],
  transferTo: ACCOUNTS[1],
  amount: '1000000000000000000',
  proposalId: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  answer: 'Y',
  to: ACCOUNTS[0],
  'query.table': 'accounts',
  'query.key': ACCOUNTS[0],
  address: ACCOUNTS[0],
  validatorAddress: ACCOUNTS[0],
  hash: '0'.repeat(64),
}

/** A value for a member that nobody wrote a sample for, by its schema. */
function plain({ schema }: Member<unknown>): string {
  if (schema['anyOf'] !== undefined) return '1'
  return String(schema['pattern']).startsWith('^0x') ? ACCOUNTS[0] : 'text'
}

/** The options of an example: every required member, and of the others those that a sample of this operation names. */
export function sampleOptions(name: string, members: Members): string {
  return memberOptions(members)
    .flatMap(({ flag, path, required }) => {
      const own = VALUES[`${name}.${path.join('-')}`]
      if (!required && own === undefined) return []
      const [member = ''] = path
      return [`${flag} ${own ?? VALUES[member] ?? plain(members[member] as Member<unknown>)}`]
    })
    .join(' ')
}

/** Who sends in an example: an account that a devnet's gateway signs for and that may do this. */
export function sampleSender({ operation }: TxEntry): string {
  if (/^propose|^vote|^verify/.test(operation)) return ACCOUNTS[0]
  return /^accept|^withdraw/.test(operation) ? ACCOUNTS[2] : ACCOUNTS[1]
}
