import { type IncomingHttpHeaders, request as overHttp } from 'node:http'
import { request as overTls, type RequestOptions } from 'node:https'

interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

/** One HTTP request as it is given, where fetch would tidy it up and decode the answer. Resolves with any answer. */
export function request(url: string | URL, options: RequestOptions, body?: string): Promise<Response> {
  const send = String(url).startsWith('https:') ? overTls : overHttp
  return new Promise((done, failed) => {
    const sent = send(url, options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.once('end', () => {
        const whole = Buffer.concat(parts)
        done({ status: response.statusCode ?? 0, headers: response.headers, body: whole, text: whole.toString() })
      })
      response.once('error', failed)
    })
    sent.once('error', failed)
    sent.end(body)
  })
}
