import { useMemo, useState } from 'preact/hooks'
import { toBase64 } from '../../base/bytes.ts'
import { operations } from '../../client/gen/calls.ts'
import {
  type Draft,
  finishDraft,
  missingSignatures,
  parseDraft,
  printDraft,
  signDraft,
  signersOf,
} from '../../tx/draft.ts'
import { txHash } from '../../tx/envelope.ts'
import { checkFields, printFields } from '../../tx/fields.ts'
import { addressOf } from '../../values/address.ts'
import type { ViewProps } from '../app.tsx'
import { chainId } from '../data/chain.ts'
import { gatewayUrl, svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { sentenceOf, type TxRequest } from '../operations/index.ts'
import { download } from '../parts/csv.ts'
import { Section, View } from '../parts/layout.tsx'
import { EmptyNote, ErrorNote, Shown } from '../parts/notes.tsx'
import { Badge, CopyButton, UserText, WholeAddress } from '../parts/text.tsx'
import { useRun } from '../parts/useRun.ts'
import { goTo } from '../route.ts'
import { reasonOf, sendSigned, sent } from '../wallet/act.ts'
import { readReview } from '../wallet/readFacts.ts'
import { ProgressNote, Signed } from '../wallet/ReviewDialog.tsx'
import { draftOfLink, linkOfDraft } from '../wallet/several.ts'
import { keySignerOf, useWallet } from '../wallet/wallet.ts'
import { openWallet } from '../wallet/walletDialog.ts'

/** What the bytes that are signed ask for. Returns why the chain would refuse it. */
function requestOf({ body: { operation, message } }: Draft): TxRequest | string {
  const fields = operations.find((one) => one.operation === operation)?.fields
  if (fields === undefined) return `it has no operation ${operation}`
  return checkFields(fields, message) ?? ({ operation, input: printFields(fields, message) } as TxRequest)
}

/** That a transaction is for another chain, or comes too late. */
function Warnings({ draft: { body }, nonce }: { readonly draft: Draft; readonly nonce: number }) {
  const here = useStore(chainId)
  return (
    <>
      {body.chainId === here ? null : (
        <p class='note bad' role='alert'>
          This is for the chain <UserText text={body.chainId} />, and this page shows {here}. Nobody can send it here.
        </p>
      )}
      {nonce <= body.nonce ? null : (
        <p class='note bad' role='alert'>
          Its nonce {body.nonce} has passed: the account has sent another transaction since, or this one. It has to be
          made again.
        </p>
      )}
    </>
  )
}

/** The members whose signatures are wrong; no data until they are checked. */
const useWrong = (draft: Draft) =>
  useAnswer(
    `signatures/${linkOfDraft(draft)}`,
    async () => {
      const { wrongMembers } = await import('../wallet/verifyDraft.ts').catch(() => {
        throw new Error('the part that checks signatures could not be loaded: load the page again')
      })
      return wrongMembers(draft)
    },
    'once',
  )

function SignatureState({
  hasSigned,
  isWrong,
  isChecked,
}: {
  hasSigned: boolean
  isWrong: boolean
  isChecked: boolean
}) {
  if (isWrong) return <Badge tone='bad'>wrong signature</Badge>
  if (!hasSigned) return <Badge>not yet</Badge>
  return isChecked ? <Badge tone='good'>signed</Badge> : <Badge tone='waiting'>not checked yet</Badge>
}

/** Who may sign, who has, and the button of those who can here. `draft` has only the signatures that count. */
function Signatures({ draft, wrong }: { readonly draft: Draft; readonly wrong: ReadonlySet<number> | undefined }) {
  const { accounts } = useWallet()
  const { isBusy, error, run } = useRun()
  const signers = signersOf(draft)
  const missing = missingSignatures(draft)
  const sign = async (address: string): Promise<void> => {
    const signer = keySignerOf(address)
    if (signer === undefined) return
    const next = await signDraft(draft, signer).catch((thrown: unknown) => {
      throw new Error(`${reasonOf(thrown)}. Nothing was signed`)
    })
    if ('why' in next) throw new Error(next.why)
    goTo(linkOfDraft(next))
  }
  // The key of a devnet's account stays with the gateway, which signs no draft.
  const isMine = ({ address, hasSigned }: (typeof signers)[number]): boolean =>
    !hasSigned && accounts.some((one) => one.address === address) && keySignerOf(address) !== undefined
  return (
    <Section
      title='Signatures'
      aside={missing === 0 ? 'enough' : missing === 1 ? 'one is missing' : `${missing} are missing`}
    >
      <ul class='events'>
        {signers.map((signer, member) => {
          const { address, hasSigned } = signer
          return (
            <li key={address} class='row'>
              <span>
                <WholeAddress address={address} />
              </span>
              {isMine(signer) && missing > 0 ? (
                <button
                  type='button'
                  class='main'
                  disabled={isBusy}
                  aria-label={`Sign as ${address}`}
                  onClick={() => void run(() => sign(address))}
                >
                  {isBusy ? 'Confirm it in your wallet' : 'Sign'}
                </button>
              ) : (
                <SignatureState
                  hasSigned={hasSigned}
                  isWrong={wrong?.has(member) === true}
                  isChecked={wrong !== undefined}
                />
              )}
            </li>
          )
        })}
      </ul>
      {signers
        .filter((_, member) => wrong?.has(member) === true)
        .map(({ address }) => (
          <p key={address} class='note bad' role='alert'>
            The signature that came as that of {address} is not one of this account for this transaction. It does not
            count, and is left out of what you pass on.
          </p>
        ))}
      <ErrorNote error={error} />
      {missing === 0 || signers.some(isMine) ? null : (
        <EmptyNote>
          To sign, open the account of a member that has not. <br />
          <button type='button' onClick={() => void openWallet()}>
            Open an account
          </button>
        </EmptyNote>
      )}
    </Section>
  )
}

/** What one does with it: passes it on, or sends it. */
function PassOn({ draft, words, canSend }: { draft: Draft; words: string; canSend: boolean }) {
  const bytes = finishDraft(draft)
  return (
    <Section title={bytes === undefined ? 'Pass it on' : 'Send it'}>
      <p>
        {bytes === undefined
          ? 'Give the link or the file to the next signer. Everything is in it; it holds no secret, and no server sees it.'
          : 'Enough have signed. Anybody who has the link can send it.'}
      </p>
      <div class='actions'>
        {bytes === undefined ? null : (
          <button
            type='button'
            class='main'
            disabled={!canSend}
            onClick={({ detail }) => detail < 2 && void sendSigned(words, bytes)}
          >
            Send
          </button>
        )}
        <CopyButton text={`${gatewayUrl}${linkOfDraft(draft)}`} label='the link' shown='Copy the link' />
        <button type='button' onClick={() => download('transaction.json', printDraft(draft), 'application/json')}>
          Save as a file
        </button>
      </div>
    </Section>
  )
}

function DraftView({ draft: given, request }: { readonly draft: Draft; readonly request: TxRequest }) {
  const { body } = given
  const { data: wrong, error } = useWrong(given)
  // Without the signatures that do not count.
  const draft = { ...given, parts: given.parts.filter(({ member }) => wrong?.has(member) !== true) }
  const from = addressOf(body.from)
  const answer = useAnswer(`draft/${toBase64(draft.bodyBytes)}`, async () => {
    const [review, nonce] = await Promise.all([readReview(request, from), svc.async.getTransactionCount(from)])
    return { review, nonce, words: sentenceOf(request, review.facts) }
  })
  const here = useStore(chainId)
  const bytes = finishDraft(draft)
  const hash = bytes === undefined ? undefined : txHash(bytes)
  const one = useStore(sent).find((known) => known.hash === hash)
  // What was refused may be sent again, as once the transaction before it is in a block.
  const isOver = one === undefined || one.progress.state === 'failed'
  return (
    <Shown answer={answer}>
      {({ review, nonce, words }) => (
        <>
          {one === undefined ? <Warnings draft={draft} nonce={nonce} /> : null}
          {/* It is there before it says something, or it would not be heard, and takes no room until then. */}
          <div role='status' class={one === undefined ? 'visually-hidden' : ''}>
            {one === undefined ? null : <ProgressNote progress={one.progress} />}
          </div>
          <Signed request={request} review={review} body={body} />
          <ErrorNote error={error} />
          <Signatures draft={draft} wrong={wrong} />
          <PassOn
            draft={draft}
            words={words}
            canSend={wrong !== undefined && isOver && body.chainId === here && nonce <= body.nonce}
          />
        </>
      )}
    </Shown>
  )
}

/** Opens a draft that came as a file. */
function OpenFile() {
  const [error, setError] = useState<string>()
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    const draft = parseDraft(await file.text())
    if ('why' in draft) setError(draft.why)
    else goTo(linkOfDraft(draft))
  }
  return (
    <Labelled label='File' hint='As this page saves it, or svcd tx --unsigned writes it.' error={error}>
      {(props) => (
        <input {...props} type='file' onChange={({ currentTarget }) => void open(currentTarget.files?.[0])} />
      )}
    </Labelled>
  )
}

/** A transaction that goes from signer to signer: `#/sign/…` holds it, and `#/sign` asks for a file. */
export function Sign({ path: [part] }: ViewProps) {
  const draft = useMemo(() => (part === undefined ? undefined : draftOfLink(part)), [part])
  const request = draft === undefined || 'why' in draft ? undefined : requestOf(draft)
  return (
    <View title='Sign a transaction'>
      <div class='narrow draft'>
        {draft === undefined ? (
          <OpenFile />
        ) : 'why' in draft ? (
          <ErrorNote error={new Error(`this is no transaction to be signed: ${draft.why}`)} />
        ) : typeof request === 'string' ? (
          <ErrorNote error={new Error(`the chain would refuse it: ${request}`)} />
        ) : request === undefined ? null : (
          <DraftView draft={draft} request={request} />
        )}
      </div>
    </View>
  )
}
