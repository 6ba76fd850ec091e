import { svc } from '../../data/gateway.ts'
import { useCandidacy } from '../../data/stakes.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { Facts, Section } from '../../parts/layout.tsx'
import { Badge, Tokens, UserText } from '../../parts/text.tsx'
import { linkTo } from '../../route.ts'

export function Candidacy({ address }: { readonly address: string }) {
  const candidacy = useCandidacy(address)
  const key = candidacy ? `stake/${address}` : undefined
  const own = useAnswer(key, () => svc.async.stake.validator.queryStake(address)).data?.data?.self_shares
  if (!candidacy) return null
  const { description, shares, state, active } = candidacy
  return (
    <Section title='Candidacy' aside={<a href={linkTo(['validators', address])}>Details</a>}>
      <Facts
        facts={{
          Name:
            description.name === '' ? (
              <span class='soft'>none</span>
            ) : (
              <a href={linkTo(['validators', address])}>
                <UserText text={description.name} />
              </a>
            ),
          State: (
            <Badge tone={state === 'Validator' ? 'good' : state === 'Candidate' ? 'waiting' : 'plain'}>
              {state === 'Candidate' && active === 'N' ? 'Candidate, not active' : state}
            </Badge>
          ),
          Shares: <Tokens units={shares} />,
          'Your own stake': own === undefined ? undefined : <Tokens units={own} />,
        }}
      />
    </Section>
  )
}
