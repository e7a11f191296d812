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

/**
 * The reply in order, with its totals; whatever its end, what was used is charged, and reported to the chain it belongs
 * to. The report has arrived before the end of the reply goes out: the application that hears the end may end as well.
 */
export async function* count(frames: AsyncIterable<Frame>, counting: Counting): AsyncIterable<Frame> {
  const { call, order } = counting;
  try {
    let owed: readonly Frame[] = [];
    try {
      for await (const frame of frames) yield* order.take(frame);
      owed = order.end();
    } finally {
      if (wasAtWork(counting)) await call.caller.chain?.report(order.counts());
    }
    yield* owed;
  } catch (thrown) {
    if (!call.signal.aborted) yield* order.closeStages();
    throw toError(thrown, call);
  } finally {
    settle(counting);
  }
}

/** A reply that failed before it began has used nothing; one that its caller left has, since the upstream was at work. */
export function wasAtWork({ call, order }: Pick<Counting, 'call' | 'order'>): boolean {
  return order.hasBegun || call.signal.aborted;
}

function settle(counting: Counting): void {
  if (!wasAtWork(counting)) return;
  const { call, deployment, order, admission } = counting;
  const { usage, statistics } = order.totals();
  const cost = costOf(deployment, usage);
  call.record.charged(cost);
  admission.charge({ tokens: addUp(statistics.usage_per_model).total_tokens, cost });
}

function toError(thrown: unknown, call: Call): unknown {
  if (!(thrown instanceof UpstreamFault)) return thrown;
  return new ParleyError('upstream_failed', `The answer of ${call.deployment} failed: ${thrown.message}`, { cause: thrown });
}
