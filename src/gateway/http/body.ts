import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { errorCodes } from 'fastify'

/**
 * Frees the memory of a chunk that has been read. The garbage collector hardly counts such memory: it would wait for tens of
 * megabytes, and the C library would keep much of them.
 */
function giveBack({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Reads an unwanted body to its end, so that the next request on its connection can be read. */
export const dropBody = (body: Readable): void => void body.on('data', giveBack)

/**
 * Reads the text of a body chunk by chunk. `announced`: how many bytes its headers say that it has, or 0. `done` is called
 * once: with the text, or with an error whose `statusCode` is 413 for more than `bytesMax` and 400 for a body that breaks off.
 */
export function readText(
  body: Readable,
  announced: number,
  bytesMax: number,
  done: (error: Error | null, text?: string) => void,
): void {
  if (announced > bytesMax) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
  const decoder = new StringDecoder('utf8')
  let text = ''
  let bytes = 0
  const end = (error: Error | null): void => {
    body.off('data', take).off('end', finish).off('error', breakOff)
    done(error, text + decoder.end())
  }
  const take = (chunk: Buffer<ArrayBuffer>): void => {
    bytes += chunk.length
    if (bytes > bytesMax) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    text += decoder.write(chunk)
    giveBack(chunk)
  }
  const finish = (): void => end(null)
  const breakOff = (error: Error): void => end(Object.assign(error, { statusCode: 400 }))
  body.on('data', take).on('end', finish).on('error', breakOff)
}
