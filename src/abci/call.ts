import type { ConnectionContext } from './context.ts'
import { isPromise } from './handlers.ts'
import type { ReplyQueue, Unfold } from './replyQueue.ts'
import type { AbciRequest, RequestKind } from './types.ts'

/**
 * Calls the handler of `kind`, and answers with its response, or with the replies that `unfold` makes of it. Without a
 * handler the answer is an exception. What the handler throws is fatal.
 */
export function callHandler(
  kind: RequestKind,
  request: AbciRequest,
  context: ConnectionContext,
  replies: ReplyQueue,
  unfold?: Unfold,
): void {
  const handler = context.handlers[kind] as ((request: AbciRequest) => unknown) | undefined
  if (handler === undefined)
    return replies.answer('exception', { error: `unknown request: the application does not serve ${kind}` })
  try {
    const response = handler(request)
    if (isPromise(response)) replies.answerLater(kind, response, unfold)
    else replies.answer(kind, response, unfold)
  } catch (error) {
    context.fatal(error, kind)
  }
}
