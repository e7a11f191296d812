import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { EmbeddingsReply, Target } from '#domain/call.ts';
import { rightsOfReceiver } from '#domain/callers/held-rights.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { Claim } from '#domain/limits/limit-store.ts';
import type { AttemptRecord } from '#domain/telemetry.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { costOf, estimateInputTokens, toCount } from '#domain/usage/usage.ts';
import { askUpstreams } from './ask-upstreams.ts';
import { forPrograms } from './call-application.ts';
import { claimsOnTheWay } from './call-holder.ts';
import { type ForPrograms, sentOn, toSent, type UpstreamDeps } from './call-upstream.ts';
import { ReplyNotes } from './reply-notes.ts';
import type { ReserveLimits } from './reserve-limits.ts';

export interface EmbeddingsDeps extends UpstreamDeps {
  readonly perRequestKeys: PerRequestKeys;
  readonly reserveLimits: ReserveLimits;
}

interface Asked {
  readonly target: Target;
  readonly request: EmbeddingsRequest;
  readonly signal: AbortSignal;
}

/** Answers an embeddings call that is authorized: reserves its limits, asks the upstreams, charges what was used. */
export async function answerEmbeddings(
  deps: EmbeddingsDeps,
  { target, request: given, signal }: Asked,
): Promise<EmbeddingsReply> {
  const { call, deployment } = target;
  const request = { ...deployment.defaults, ...given };
  const asking = { promptTokens: estimateInputTokens(request), maxTokens: 0, isWanted: () => !signal.aborted };
  const { headers, claims, settle } = await deps.reserveLimits(target, asking);
  const notes = new ReplyNotes(given);
  let used: ModelUsage | undefined;
  let isWhole = false;
  try {
    const body = await ask(deps, { target, request, signal, notes, claims });
    isWhole = true;
    const usage = toUsed(target, request, body);
    used = usage;
    await call.caller.chain?.report([usage]);
    return { headers: { ...headers, ...notes.headers }, body: toWhole(body, usage), used: () => [usage] };
  } finally {
    if (signal.aborted) used ??= toUsed(target, request, {});
    if (used !== undefined) {
      const cost = costOf(deployment, used);
      call.record.cost = cost;
      settle?.({ tokens: used.total_tokens, cost, ...(isWhole && { whole: used }) });
    } else settle?.(undefined);
  }
}

interface Asking extends Asked {
  readonly notes: ReplyNotes;
  /** What is reserved for it of the limits of its caller. */
  readonly claims: readonly Claim[];
}

/** Adapters are asked with a per-request key, which ends with the call. */
async function ask(deps: EmbeddingsDeps, asking: Asking): Promise<JsonObject> {
  const { target, claims } = asking;
  if (!target.deployment.isServedByPrograms) return askWith(deps, asking);
  const { caller } = target.call;
  const rights = rightsOfReceiver(target.deployment.id, caller.chain);
  const chain = { path: target.path, rights, claims: claimsOnTheWay(caller, claims), report() {} };
  const key = await deps.perRequestKeys.issue({ ...caller, chain });
  try {
    return await askWith(deps, asking, forPrograms(target, key));
  } finally {
    await deps.perRequestKeys.revoke(key);
  }
}

function askWith(deps: UpstreamDeps, { target, request, signal, notes }: Asking, programs?: ForPrograms): Promise<JsonObject> {
  const { call, deployment } = target;
  const attempts = {
    deployment,
    record: call.record,
    caller: call.caller,
    secrets: programs?.secrets ?? [],
    notes,
    ask(upstream: Upstream, attempt: AttemptRecord, reply: Sink<JsonObject>): Handle {
      const { embed } = deps.protocols[upstream.protocol];
      const sent = toSent(upstream, { common: sentOn(target, attempt), programs, notes });
      if (embed !== undefined) return embed({ upstream, request, ...sent }, reply);
      throw new ParleyError('operation_not_supported', `The upstream of ${deployment.id} makes no embeddings.`);
    },
  };
  return askUpstreams(deps, attempts, signal);
}

/** The reply with the fields that callers rely on, and some upstreams leave out. */
function toWhole(body: JsonObject, { model, prompt_tokens, total_tokens }: ModelUsage): JsonObject {
  const usage = isJsonObject(body.usage) ? body.usage : { prompt_tokens, total_tokens };
  return { ...body, model: typeof body.model === 'string' ? body.model : model, usage };
}

/** What an upstream reported, else an estimate. */
function toUsed({ deployment: { id } }: Target, request: EmbeddingsRequest, { usage }: JsonObject): ModelUsage {
  const reported = isJsonObject(usage) && typeof usage.prompt_tokens === 'number' ? toCount(usage.prompt_tokens) : undefined;
  const tokens = reported ?? estimateInputTokens(request);
  return {
    ...{ index: 0, model: id, name: id, prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    ...(reported === undefined && { estimated: true }),
  };
}
