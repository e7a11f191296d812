import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ModelUsage } from '#contract/chunk.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Embed, EmbeddingsCall, EmbeddingsReply } from '#domain/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { costOf } from '#domain/usage/cost.ts';
import { estimateInputTokens } from '#domain/usage/estimate-tokens.ts';
import { toCount } from '#domain/usage/usage.ts';
import { type AnswerDeps, protocolOf, sentOn } from './answer.ts';
import { attempt } from './attempts.ts';
import { type EnterDeps, enter } from './enter.ts';
import type { LimitReservation, ReserveLimits } from './reserve-limits.ts';

export interface EmbedDeps extends AnswerDeps, EnterDeps {
  readonly admit: ReserveLimits;
}

/** The way of every embeddings call: enter → admit → answer → count. */
export function createEmbed(tools: EmbedDeps): Embed {
  return async (call: EmbeddingsCall): Promise<EmbeddingsReply> => {
    const { snapshot, deployment } = await enter(tools, call, 'embedding');
    const request = { ...deployment.defaults, ...call.read(deployment) };
    const { headers, charge } = await tools.admit({ caller: call.caller, deployment, snapshot });
    let used: ModelUsage | undefined;
    try {
      const body = await askUpstreams(tools, { call, deployment, request });
      used = toUsed(deployment, request, body);
      await call.caller.chain?.report([used]);
      return { headers, body, used: [used] };
    } finally {
      if (call.signal.aborted) used ??= toUsed(deployment, request, {});
      if (used !== undefined) settle(call, charge, { tokens: used.total_tokens, cost: costOf(deployment, used) });
    }
  };
}

function settle(
  { record }: EmbeddingsCall,
  charge: LimitReservation['charge'],
  used: Parameters<LimitReservation['charge']>[0],
): void {
  record.charged(used.cost);
  charge(used);
}

interface Embedding {
  readonly call: EmbeddingsCall;
  readonly deployment: Deployment;
  readonly request: EmbeddingsRequest;
}

async function askUpstreams(tools: EmbedDeps, { call, deployment, request }: Embedding): Promise<JsonObject> {
  const { signal } = call;
  const { result, record } = await attempt(tools, { deployment, signal, record: call.record }, (upstream, { trace }) => {
    const { embed } = protocolOf(tools, upstream);
    if (embed === undefined)
      throw new ParleyError('operation_not_supported', `The upstream of ${deployment.id} makes no embeddings.`);
    return embed({ upstream, request, signal, headers: sentOn(call.id, trace) });
  });
  record.end('ok', tools.clock.nowMs());
  return result;
}

/** What an upstream reported, else an estimate. */
function toUsed({ id }: Deployment, request: EmbeddingsRequest, { usage }: JsonObject): ModelUsage {
  const reported = isJsonObject(usage) && typeof usage.prompt_tokens === 'number' ? toCount(usage.prompt_tokens) : undefined;
  const tokens = reported ?? estimateInputTokens(request);
  return {
    ...{ index: 0, model: id, name: id, prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    ...(reported === undefined && { estimated: true }),
  };
}
