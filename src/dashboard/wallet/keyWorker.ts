import { createKeystore, KeystoreError, openKeystore } from '../../keys/keystore.ts'
import { newMnemonic, seedOfMnemonic } from '../../keys/mnemonic.ts'
import type { KeyAnswers, KeyReply, KeyRequest } from './keyJobs.ts'

function run({ job, given }: KeyRequest): KeyAnswers[keyof KeyAnswers] {
  switch (job) {
    case 'openKeystore':
      return openKeystore(given.text, given.password)
    case 'openWords':
      return seedOfMnemonic(given.words, given.index)
    case 'seal':
      return JSON.stringify(createKeystore(given.seed, given.password), undefined, 2)
    case 'newWords':
      return newMnemonic()
  }
}

function replyTo(request: KeyRequest): KeyReply {
  try {
    return { answer: run(request) }
  } catch (error) {
    const isPassword = error instanceof KeystoreError && error.problem === 'wrongPassword'
    return { why: error instanceof Error ? error.message : String(error), isPassword }
  }
}

addEventListener('message', ({ data }: MessageEvent<KeyRequest>) => postMessage(replyTo(data)))
