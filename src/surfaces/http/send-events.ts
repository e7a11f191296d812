import { peek } from '#base/peek.ts';
import type { ParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Reply } from '#domain/call.ts';
import { EventStream } from './event-stream.ts';
import type { RequestContext } from './request-context.ts';

/** How a dialect writes a reply as events; all that it gives is latin1 bytes. */
export interface EventWriter {
  /** Starts the stream; what is thrown here is answered with the status of an error. */
  begin(stream: EventStream, context: RequestContext, first: Frame): void;
  toBytes(frame: Frame): string;
  /** What closes a reply that ended well. */
  end(): string;
  /** What closes a reply that broke off. */
  toFault(error: ParleyError, context: RequestContext): string;
}

/** Sends a reply as events. Nothing is sent before the first frame is there; a fault after it is an event of its own (contract 5). */
export async function sendEvents(context: RequestContext, reply: Reply, writer: EventWriter): Promise<void> {
  context.answersBy(reply);
  const frames = await peek(reply.frames);
  const { record, clock } = context;
  const stream = new EventStream(context.response);
  let isFirst = true;
  try {
    for await (const frame of frames) {
      if (isFirst) {
        writer.begin(stream, context, frame);
        record.firstByte(clock.nowMs());
      } else record.chunk(clock.nowMs());
      isFirst = false;
      stream.send(writer.toBytes(frame));
      if (stream.isFull) await stream.drained();
    }
    stream.send(writer.end());
  } catch (thrown) {
    if (isFirst) throw thrown;
    const error = context.failed(thrown);
    if (context.hasLeft) return stream.abandon();
    stream.send(writer.toFault(error, context));
  }
  stream.end();
}
