import type { JsonObject } from '#base/json.ts';
import { pushed } from '#base/pushed.ts';
import { parseChatRequest } from '#contract/chat-request.ts';
import type { ParleyError } from '#contract/errors.ts';
import { foldFrames, toolResultBound } from '#contract/fold-frames.ts';
import { parseMcpQuery } from '#contract/mcp/message.ts';
import type { Answer, Call, Calls, ReplySink } from '#domain/call.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Outlet } from './outlet.ts';
import type { Progress } from './progress.ts';
import { toContent } from './to-content.ts';

/** One call of the tool. */
export interface Asking {
  readonly call: Call;
  /** Aborted when the client cancels the call, or leaves. */
  readonly signal: AbortSignal;
  readonly args: unknown;
  /** Absent: nobody wants to know. */
  readonly progress: Progress | undefined;
}

/** Asks a deployment: the result of the tool, which says in words what went wrong if something did. Rejects if the caller has left. */
export async function ask(
  calls: Calls,
  { context, outlet }: { readonly context: RequestContext; readonly outlet: Outlet },
  { call, signal, args, progress }: Asking,
): Promise<JsonObject> {
  try {
    const target = await calls.authorize(call, 'chat');
    const { query } = parseMcpQuery(args);
    const request = parseChatRequest({ messages: [{ role: 'user', content: query }], stream: progress !== undefined });
    const start = (sink: ReplySink): Answer => {
      const answer = calls.answer(target, { request }, sink);
      context.answeredBy(answer);
      if (progress !== undefined) outlet.open();
      return answer;
    };
    const whole = await foldFrames(pushed(start, signal), toolResultBound, (chunk) => progress?.note(chunk));
    return { content: toContent(whole) };
  } catch (thrown) {
    if (context.hasLeft) throw thrown;
    return { content: [{ type: 'text', text: toWords(context.failed(thrown)) }], isError: true };
  }
}

function toWords({ message, code, shownCode, retryAfterSeconds }: ParleyError): string {
  const again = retryAfterSeconds === undefined ? '' : ` Another try makes sense after ${retryAfterSeconds} s.`;
  return `${message}${again} (${shownCode ?? code})`;
}
