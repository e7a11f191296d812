import { JsonFault } from '#base/json.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Call } from '#domain/call.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import type { ReplyOrder } from './reply-order.ts';

/** The reply in order, with its totals; whatever its end, what was used is reported to the chain it belongs to. */
export async function* count(frames: AsyncIterable<Frame>, order: ReplyOrder, call: Call): AsyncIterable<Frame> {
  try {
    for await (const frame of frames) yield* order.take(frame);
    yield* order.end();
  } catch (thrown) {
    if (!call.signal.aborted) yield* order.closeStages();
    throw toError(thrown, call);
  } finally {
    call.caller.chain?.report(order.counts());
  }
}

function toError(thrown: unknown, call: Call): unknown {
  if (thrown instanceof UpstreamFault)
    return new ParleyError('upstream_failed', `The answer of ${call.deployment} failed: ${thrown.message}`, { cause: thrown });
  if (thrown instanceof JsonFault)
    return new ParleyError('upstream_failed', `The answer of ${call.deployment} is malformed: ${thrown.message}.`, {
      cause: thrown,
    });
  return thrown;
}
