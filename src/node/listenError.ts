import { describeUse } from '../comet/process.ts'
import { UserError } from './errors.ts'

/**
 * The error to show when a server could not listen: a UserError that begins with `cannot`, such as `cannot listen on
 * 127.0.0.1:8545`, and says why. `port` and `host` are those of a TCP address. An error that has no code is not about
 * listening, and comes back as it is.
 */
export async function listenError(
  error: unknown,
  cannot: string,
  { host = '', port }: { readonly host?: string | undefined; readonly port?: number | undefined },
): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined) return error
  const why = code === 'EADDRINUSE' && port !== undefined ? `the port ${await describeUse(host, port)}` : message
  return new UserError(`${cannot}: ${why}`)
}
