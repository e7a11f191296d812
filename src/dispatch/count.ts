import { JsonFault } from '#base/json.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Call } from '#domain/call.ts';
import { costOf } from '#domain/cost.ts';
import type { Deployment } from '#domain/deployment.ts';
import { UpstreamFault } from '#domain/upstream.ts';
import { addUp } from '#domain/usage.ts';
import type { Admission } from './admit.ts';
import type { ReplyOrder } from './reply-order.ts';

export interface Counting {
  readonly call: Call;
  readonly deployment: Deployment;
  readonly order: ReplyOrder;
  readonly admission: Admission;
}

/** The reply in order, with its totals; whatever its end, what was used is charged, and reported to the chain it belongs to. */
export async function* count(frames: AsyncIterable<Frame>, counting: Counting): AsyncIterable<Frame> {
  const { call, order } = counting;
  try {
    for await (const frame of frames) yield* order.take(frame);
    yield* order.end();
  } catch (thrown) {
    if (!call.signal.aborted) yield* order.closeStages();
    throw toError(thrown, call);
  } finally {
    settle(counting);
  }
}

/** A reply that failed before it began is charged nothing; one that its caller left is, since the upstream was at work. */
function settle({ call, deployment, order, admission }: Counting): void {
  const { usage, statistics } = order.totals();
  call.caller.chain?.report(statistics.usage_per_model);
  if (!order.hasBegun && !call.signal.aborted) return;
  admission.charge({ tokens: addUp(statistics.usage_per_model).total_tokens, cost: costOf(deployment, usage) });
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
