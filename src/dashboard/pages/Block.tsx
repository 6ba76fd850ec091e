import type { GetBlockResult } from '../../client/index.ts'
import { head } from '../data/chain.ts'
import { svc } from '../data/gateway.ts'
import { useLatest } from '../data/proposals.ts'
import { useStore } from '../data/store.ts'
import { useEarliest } from '../data/useTransactions.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { formatCount, shorten } from '../format.ts'
import { Facts, Section, View } from '../parts/layout.tsx'
import { EmptyNote, ErrorNote, Loading } from '../parts/notes.tsx'
import { Steps } from '../parts/Steps.tsx'
import { partIn, Table } from '../parts/Table.tsx'
import { HeightLink, Moment, Short, Whole } from '../parts/text.tsx'
import { columnsInBlock, txLink } from '../parts/transactions.tsx'
import { Sentence } from '../parts/Words.tsx'
import { linkTo, useRoute } from '../route.ts'
import { eventWords } from '../events.ts'
import { useProposers } from './useProposers.tsx'

type FoundBlock = NonNullable<GetBlockResult>

const PAGE_TXS = 50

/** The next and the previous block. */
function Neighbours({ height }: { readonly height: number }) {
  const newest = useStore(head)?.height ?? 0
  const earliest = useEarliest()
  return (
    <Steps
      label='Blocks beside this one'
      back={{ name: 'Previous', to: height > earliest ? linkTo(['blocks', height - 1]) : undefined }}
      on={{ name: 'Next', to: height < newest ? linkTo(['blocks', height + 1]) : undefined }}
    />
  )
}

/** What the block did by itself, behind its transactions. */
function OwnEvents({ block: { events, height, transaction_count: count } }: { readonly block: FoundBlock }) {
  if (events.length === 0)
    return <p class='soft'>{count === 0 ? 'None.' : 'None: only its transactions changed something.'}</p>
  return (
    <ul class='events'>
      {events.map(({ type, attributes }, index) => (
        <li key={index} title={type}>
          <Sentence words={eventWords({ type, attributes, height })} />
        </li>
      ))}
    </ul>
  )
}

/** `isOld`: another page of its transactions is on its way. */
function Content({ block, id, offset, isOld }: { block: FoundBlock; id: string; offset: number; isOld: boolean }) {
  const proposerOf = useProposers()
  const { height, transaction_count: count } = block
  const pageAt = (from: number): string => linkTo(['blocks', id], { offset: from > 0 ? String(from) : undefined })
  return (
    <>
      <Facts
        facts={{
          Time: <Moment time={block.time} />,
          Proposer: proposerOf(block.proposer_address),
          Hash: <Whole text={block.hash} label='the hash of the block' />,
          Parent:
            height > 1 && block.parent_hash !== '' ? (
              <Short text={block.parent_hash} to={linkTo(['blocks', block.parent_hash])} left={16} right={12} />
            ) : (
              'none: this is the first block'
            ),
          'App hash': (
            <>
              <Whole text={block.app_hash} label='the app hash' />
              {height > 1 && (
                <div class='soft'>
                  of the state after block <HeightLink height={height - 1} />
                </div>
              )}
            </>
          ),
        }}
      />
      <Section title={count === 1 ? '1 transaction' : `${formatCount(count)} transactions`}>
        {isOld ? (
          <Loading lines={6} />
        ) : (
          <Table
            label={`Transactions of block ${height}`}
            columns={columnsInBlock}
            rows={block.transactions}
            keyOf={({ index }) => index}
            linkOf={txLink}
            empty={count === 0 ? 'This block has no transactions.' : 'That page does not exist.'}
            part={partIn(offset, block.transactions.length, count)}
          />
        )}
        <Steps
          label='Pages of transactions'
          back={{ name: 'Earlier', to: offset > 0 ? pageAt(Math.max(0, offset - PAGE_TXS)) : undefined }}
          on={{ name: 'Later', to: offset + PAGE_TXS < count ? pageAt(offset + PAGE_TXS) : undefined }}
        />
      </Section>
      <Section title='Events of the block'>
        <OwnEvents block={block} />
      </Section>
    </>
  )
}

const isHash = (id: string): boolean => /^(?:0x)?[0-9a-f]{64}$/i.test(id)
const isHeight = (id: string): boolean => /^[1-9][0-9]{0,15}$/.test(id) && Number.isSafeInteger(Number(id))

/** Why there is no block of this height, or of a hash. */
function NoBlock({ height }: { readonly height: number | undefined }) {
  const newest = useStore(head)?.height ?? 0
  const earliest = useEarliest()
  if (height !== undefined && height > newest)
    return `This block is not made yet: the newest one is ${formatCount(newest)}. It is shown here as soon as it is made.`
  return `The node has no such block.${earliest > 1 ? ` The first one that it still has is ${formatCount(earliest)}.` : ''}`
}

/** A block by its height or hash. One that is not made yet is shown as soon as it is. */
export function Block({ id }: { readonly id: string }) {
  const offset = Math.max(0, Math.trunc(Number(useRoute().options.get('offset') ?? 0)) || 0)
  const isKnownForm = isHash(id) || isHeight(id)
  const { data, error, isOld } = useLatest(
    useAnswer(
      isKnownForm ? `block/${id}/${offset}` : undefined,
      () => svc.async.getBlock({ block: isHeight(id) ? Number(id) : id, limit: PAGE_TXS, offset }),
      'untilFound',
    ),
  )
  const name = isHeight(id) ? formatCount(Number(id)) : shorten(id)
  return (
    <View
      title={data ? `Block ${formatCount(data.height)}` : `Block ${name}`}
      actions={data ? <Neighbours height={data.height} /> : undefined}
    >
      <ErrorNote error={error} />
      {!isKnownForm && <EmptyNote>A block is named by its height, or by its hash of 64 hex digits.</EmptyNote>}
      {isKnownForm && data === undefined && error === undefined && <Loading lines={6} />}
      {data === null && (
        <EmptyNote>
          <NoBlock height={isHeight(id) ? Number(id) : undefined} />
        </EmptyNote>
      )}
      {data ? <Content block={data} id={id} offset={offset} isOld={isOld} /> : null}
    </View>
  )
}
