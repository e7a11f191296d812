import { toErrorBody } from '#contract/errors.ts';
import { toEvent } from '#contract/frame.ts';
import type { Reply } from '#domain/call.ts';
import { type EventWriter, sendEvents } from '../http/send-events.ts';
import { sendJson } from '../http/send-json.ts';
import type { Visit } from '../http/visit.ts';
import { foldReply } from './fold-reply.ts';

const endMark = 'data: [DONE]\n\n';

/** Sends a reply as one JSON text. */
export async function sendFolded(visit: Visit, reply: Reply): Promise<void> {
  visit.answersBy(reply);
  const bytes = await foldReply(reply.frames);
  sendJson(visit.response, 200, bytes, visit.headers);
}

/** Sends a reply as events, its frames byte for byte. */
export function sendStream(visit: Visit, reply: Reply): Promise<void> {
  return sendEvents(visit, reply, compatEvents);
}

const compatEvents: EventWriter = {
  begin: (stream, visit) => stream.start(visit.headers),
  toBytes: (frame) => frame.bytes,
  end: () => endMark,
  toFault: (error) => toEvent(toErrorBody(error)) + endMark,
};
