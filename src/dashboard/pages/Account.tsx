import type { ViewProps } from '../app.tsx'
import { svc } from '../data/gateway.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { formatCount, formatTokens } from '../format.ts'
import { AddressHead } from '../parts/AddressHead.tsx'
import { Facts, Section, View } from '../parts/layout.tsx'
import { Verified } from '../parts/Verified.tsx'
import { EmptyNote, Shown } from '../parts/notes.tsx'
import { Short } from '../parts/text.tsx'
import { TxHistory } from '../parts/TxHistory.tsx'
import { linkTo } from '../route.ts'
import { Candidacy } from './account/Candidacy.tsx'
import { Stakes } from './account/Stakes.tsx'
import { Unbonding } from './account/Unbonding.tsx'

/** Candidacies that the account may take over, and those that it offers. */
function HandOvers({ address }: { readonly address: string }) {
  const { data } = useAnswer(`account-updates/${address}`, () => svc.async.stake.validator.queryAccountUpdates(address))
  if (data === undefined || data.data.length === 0) return null
  return (
    <Section title='Open hand-over requests'>
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

function Known({ address }: { readonly address: string }) {
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
      <Section title='Transactions' aside='In and out of the balance, without fees'>
        <TxHistory address={address} label={`Transactions of ${address}`} />
      </Section>
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
