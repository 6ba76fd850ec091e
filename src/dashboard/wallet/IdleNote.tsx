import { useStore } from '../data/store.ts'
import { IDLE_MS, idleNotice } from './wallet.ts'

const MINUTES = IDLE_MS / 60_000

/** Says that the keys are forgotten soon, or were, because nobody was there. */
export function IdleNote() {
  const notice = useStore(idleNotice)
  return (
    <div class='idle' role='status'>
      {notice === 'soon' ? (
        <p class='note waiting'>
          Your accounts will be locked in a minute, because nothing was done here for {MINUTES - 1} minutes. Move the
          pointer or press a key to keep them open.
        </p>
      ) : notice === 'locked' ? (
        <p class='note'>
          Your accounts were locked, because nothing was done here for {MINUTES} minutes. What you have typed is still
          here.{' '}
          <button type='button' class='quiet' onClick={() => idleNotice.set(undefined)}>
            Dismiss
          </button>
        </p>
      ) : null}
    </div>
  )
}
