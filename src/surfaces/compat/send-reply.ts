import { peek } from '#base/peek.ts';
import { toErrorBody } from '#contract/errors.ts';
import { toEvent } from '#contract/frame.ts';
import type { Reply } from '#domain/call.ts';
import { EventStream } from '../http/event-stream.ts';
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

/** Sends a reply as events. Nothing is sent before the first frame is there; a fault after it is an event of its own (contract 5). */
export async function sendStream(visit: Visit, reply: Reply): Promise<void> {
  visit.answersBy(reply);
  const frames = await peek(reply.frames);
  const { record, clock } = visit;
  const stream = new EventStream(visit.response);
  stream.start(visit.headers);
  let isFirst = true;
  try {
    for await (const frame of frames) {
      stream.send(frame.bytes);
      if (isFirst) record.firstByte(clock.nowMs());
      else record.chunk(clock.nowMs());
      isFirst = false;
      if (stream.isFull) await stream.drained();
    }
  } catch (thrown) {
    const error = visit.failed(thrown);
    if (visit.hasLeft) return stream.abandon();
    stream.send(toEvent(toErrorBody(error)));
  }
  stream.send(endMark);
  stream.end();
}
