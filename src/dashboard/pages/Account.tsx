import type { ViewProps } from '../app.tsx'
import { svc } from '../data/gateway.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { useLive } from '../data/useTransactions.ts'
import { formatCount, formatTokens } from '../format.ts'
import { AddressHead } from '../parts/AddressHead.tsx'
import { Facts, Section, View } from '../parts/layout.tsx'
import { Verified } from '../parts/Verified.tsx'
import { EmptyNote, Shown } from '../parts/notes.tsx'
import { Steps } from '../parts/Steps.tsx'
import { Table } from '../parts/Table.tsx'
import { Short } from '../parts/text.tsx'
import { type Tx, txColumns } from '../parts/transactions.tsx'
import { linkTo, useRoute } from '../route.ts'
import { Candidacy } from './account/Candidacy.tsx'
import { Stakes } from './account/Stakes.tsx'
import { Unbonding } from './account/Unbonding.tsx'

interface Of {
  readonly address: string
}

/** Candidacies that the account may take over, and those that it offers. */
function HandOvers({ address }: Of) {
  const { data } = useAnswer(`account-updates/${address}`, () => svc.async.stake.validator.queryAccountUpdates(address))
  if (data === undefined || data.data.length === 0) return null
  return (
    <Section title='Hand-overs that wait'>
      <ul class='events'>
        {data.data.map(({ id, from, to }) => (
          <li key={id}>
            Request <span class='number'>{id}</span>:{' '}
            {to === address ? (
              <>
                this account may take over the candidacy of <Short text={from} to={linkTo(['validators', from])} />
              </>
            ) : (
              <>
                the candidacy of this account is offered to <Short text={to} to={linkTo(['accounts', to])} />
              </>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** What the account sent and what concerned it, the newest first. The first page goes on as blocks come. */
function History({ address }: Of) {
  const before = useRoute().options.get('before') ?? undefined
  const answer = useAnswer(
    `transactions/${address}/${before ?? ''}`,
    () => svc.async.getTransactions({ address, ...(before === undefined ? {} : { before }) }),
    before === undefined ? 'onReturn' : 'once',
  )
  const first = before === undefined ? answer.data?.height : undefined
  const live = useLive(first === undefined ? undefined : Math.max(1, first), address)
  return (
    <Section title='Transactions'>
      <Shown answer={answer} lines={4}>
        {({ data, next }) => (
          <>
            <Table
              label={`Transactions of ${address}`}
              columns={txColumns}
              rows={before === undefined ? newestOf(live, data) : data}
              keyOf={({ height, index }) => `${height}/${index}`}
              empty='No transaction of this account or about it, as far back as this node has blocks.'
            />
            <Steps
              label='Pages of transactions'
              back={{ name: 'Newest', to: before === undefined ? undefined : linkTo(['accounts', address]) }}
              on={{ name: 'Older', to: next === null ? undefined : linkTo(['accounts', address], { before: next }) }}
            />
          </>
        )}
      </Shown>
    </Section>
  )
}

/** What the page was told of since, and behind it what the gateway found. */
function newestOf(live: readonly Tx[], found: readonly Tx[]): readonly Tx[] {
  const known = new Set(found.map(({ hash }) => hash))
  return [...live.filter(({ hash }) => !known.has(hash)), ...found]
}

function Known({ address }: Of) {
  const account = useAnswer(`account/${address}`, async () => {
    const [balance, nonce] = await Promise.all([svc.async.getBalance(address), svc.async.getTransactionCount(address)])
    return { balance, nonce }
  })
  return (
    <View
      title={`Account ${address.slice(0, 10)}`}
      name='Account'
      actions={
        <a class='button' href={linkTo(['send'], { to: address })}>
          Send tokens
        </a>
      }
    >
      <AddressHead address={address} />
      <Shown answer={account} lines={2}>
        {({ balance, nonce }) => (
          <>
            <Facts
              facts={{
                Balance: (
                  <>
                    <span class='figure'>{formatTokens(balance, 18)}</span> <span class='unit'>token</span>
                    <div class='soft number'>{formatCount(BigInt(balance))} base units</div>
                  </>
                ),
                'Transactions sent': <span class='number'>{formatCount(nonce)}</span>,
              }}
            />
            <Verified call={() => svc.verified.getBalance(address)} expect={{ balance, nonce: String(nonce) }} />
            {balance === '0' && nonce === 0 && (
              <EmptyNote>Nobody has used this account yet: it holds nothing and has sent nothing.</EmptyNote>
            )}
          </>
        )}
      </Shown>
      <Candidacy address={address} />
      <Stakes address={address} />
      <Unbonding address={address} />
      <HandOvers address={address} />
      <History address={address} />
    </View>
  )
}

/** An account by its address, in any letter case, with 0x or without. */
export function Account({ path: [given = ''] }: ViewProps) {
  const [, digits] = /^(?:0x)?([0-9a-f]{40})$/i.exec(given) ?? []
  if (digits !== undefined) return <Known address={`0x${digits.toLowerCase()}`} />
  return (
    <View title='Account'>
      <EmptyNote>An account is named by its address: 0x and 40 hex digits.</EmptyNote>
    </View>
  )
}
