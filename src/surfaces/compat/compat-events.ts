import { toEvent } from '#contract/frame.ts';
import type { EventWriter } from '../http/streamed-reply.ts';

const endMark = 'data: [DONE]\n\n';

/** Events of the compat wire: frames byte for byte. */
export const compatEvents: EventWriter = {
  begin: (stream, context) => stream.start(context.replyHeaders),
  toBytes: (frame) => frame.bytes,
  end: () => endMark,
  toFault: (error, { errorDialect, id }) => toEvent(errorDialect.toErrorBody(error, id)) + endMark,
};
