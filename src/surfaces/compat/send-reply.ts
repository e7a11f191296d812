import { toErrorBody } from '#contract/errors.ts';
import { toEvent } from '#contract/frame.ts';
import type { Reply } from '#domain/call.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type EventWriter, sendEvents } from '../http/send-events.ts';
import { sendJson } from '../http/send-json.ts';
import { foldReply } from './fold-reply.ts';

const endMark = 'data: [DONE]\n\n';

/** Sends a reply as one JSON text. */
export async function sendFolded(context: RequestContext, reply: Reply): Promise<void> {
  context.answersBy(reply);
  const bytes = await foldReply(reply.frames);
  sendJson(context.response, 200, bytes, context.headers);
}

/** Sends a reply as events, its frames byte for byte. */
export function sendStream(context: RequestContext, reply: Reply): Promise<void> {
  return sendEvents(context, reply, compatEvents);
}

const compatEvents: EventWriter = {
  begin: (stream, context) => stream.start(context.headers),
  toBytes: (frame) => frame.bytes,
  end: () => endMark,
  toFault: (error) => toEvent(toErrorBody(error)) + endMark,
};
