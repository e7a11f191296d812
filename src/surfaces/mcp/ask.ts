import type { JsonObject } from '#base/json.ts';
import { parseChatRequest } from '#contract/chat-request.ts';
import type { ParleyError } from '#contract/errors.ts';
import { foldFrames, toolResultBound } from '#contract/fold-frames.ts';
import { parseMcpQuery } from '#contract/mcp/message.ts';
import type { Call, Complete } from '#domain/call.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Outlet } from './outlet.ts';
import type { Progress } from './progress.ts';
import { toContent } from './to-content.ts';

/** One call of the tool. */
export interface Asking {
  readonly call: Omit<Call, 'read'>;
  readonly args: unknown;
  /** Absent: nobody wants to know. */
  readonly progress: Progress | undefined;
}

/** Asks a deployment: the result of the tool, which says in words what went wrong where something did. Rejects where the caller has left. */
export async function ask(
  complete: Complete,
  { context, outlet }: { readonly context: RequestContext; readonly outlet: Outlet },
  { call, args, progress }: Asking,
): Promise<JsonObject> {
  const read = () => {
    const { query } = parseMcpQuery(args);
    return parseChatRequest({ messages: [{ role: 'user', content: query }], stream: progress !== undefined });
  };
  try {
    const reply = await complete({ ...call, read });
    context.answersBy(reply);
    if (progress !== undefined) outlet.open();
    const whole = await foldFrames(reply.frames, toolResultBound, (chunk) => progress?.note(chunk));
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
