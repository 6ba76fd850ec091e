import { createKeystore, KeystoreError, openKeystore } from '../../keys/keystore.ts'
import { faultOfMnemonic, newMnemonic, seedOfMnemonic } from '../../keys/mnemonic.ts'
import { type KeyAnswers, KeyError, type KeyReply, type KeyRequest } from './keyJobs.ts'

function seedOfWords(words: string, index: number): Uint8Array {
  const fault = faultOfMnemonic(words)
  if (fault !== undefined) throw new KeyError(fault, 'words')
  return seedOfMnemonic(words, index)
}

function run({ job, given }: KeyRequest): KeyAnswers[keyof KeyAnswers] {
  switch (job) {
    case 'openKeystore':
      return openKeystore(given.text, given.password)
    case 'openWords':
      return seedOfWords(given.words, given.index)
    case 'seal':
      return JSON.stringify(createKeystore(given.seed, given.password), undefined, 2)
    case 'newWords':
      return newMnemonic()
  }
}

/** The field that is to blame. */
function fieldOf(error: unknown): KeyError['field'] {
  if (error instanceof KeyError) return error.field
  if (!(error instanceof KeystoreError)) return undefined
  return error.problem === 'wrongPassword' ? 'password' : 'file'
}

function replyTo(request: KeyRequest): KeyReply {
  try {
    return { answer: run(request) }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error), field: fieldOf(error) }
  }
}

addEventListener('message', ({ data }: MessageEvent<KeyRequest>) => postMessage(replyTo(data)))
