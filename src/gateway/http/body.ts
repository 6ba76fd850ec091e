import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { errorCodes } from 'fastify'

/**
 * Gives back the memory of a chunk that has been read. The garbage collector counts little of it: it would come after tens of
 * megabytes, and the C library keeps much of what so many chunks took together.
 */
function giveBack({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Reads a body that nobody wants to its end, so that the next request of its connection can be. */
export const dropBody = (body: IncomingMessage): void => void body.on('data', giveBack)

/**
 * Reads the text of a body chunk by chunk. `done` is called once: with the text, or with why there is none, which has the
 * `statusCode` 413 for more than `bytesMax` and 400 for a body that breaks off.
 */
export function readText(
  body: IncomingMessage,
  bytesMax: number,
  done: (error: Error | null, text?: string) => void,
): void {
  const decoder = new StringDecoder('utf8')
  let text = ''
  let bytes = 0
  const end = (error: Error | null): void => {
    body.off('data', take).off('end', finish).off('error', breakOff)
    done(error, text + decoder.end())
  }
  const take = (chunk: Buffer<ArrayBuffer>): void => {
    bytes += chunk.length
    if (bytes <= bytesMax) text += decoder.write(chunk)
    giveBack(chunk)
    if (bytes > bytesMax) end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  }
  const finish = (): void => end(null)
  const breakOff = (error: Error): void => end(Object.assign(error, { statusCode: 400 }))
  if (Number(body.headers['content-length'] ?? 0) > bytesMax) end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  else body.on('data', take).on('end', finish).on('error', breakOff)
}
