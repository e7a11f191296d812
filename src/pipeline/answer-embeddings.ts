import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { EmbeddingsReply, Target } from '#domain/calls/call.ts';
import type { AttemptRecord } from '#domain/calls/telemetry.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { estimateInputTokens, toCount } from '#domain/usage/usage.ts';
import { CallAccount } from './call-account.ts';
import { toApplicationFields } from './call-application.ts';
import { type ApplicationFields, buildAttemptFields, toTraceHeaders, type UpstreamDeps } from './call-upstream.ts';
import { fetchFromUpstreams } from './failover.ts';
import type { ReserveQuota } from './reserve-quota.ts';

/** Dependencies of `answerEmbeddings`. */
export interface EmbeddingsDeps extends UpstreamDeps {
  readonly perRequestKeys: PerRequestKeys;
  readonly reserveQuota: ReserveQuota;
}

interface EmbeddingsCall {
  readonly target: Target;
  readonly request: EmbeddingsRequest;
  readonly signal: AbortSignal;
}

/** Answers an authorized embeddings call: reserves quota, calls the upstreams, and charges the usage. */
export async function answerEmbeddings(
  deps: EmbeddingsDeps,
  { target, request: clientRequest, signal }: EmbeddingsCall,
): Promise<EmbeddingsReply> {
  const { deployment } = target;
  const request = { ...deployment.defaults, ...clientRequest };
  const promptTokens = estimateInputTokens(request);
  const account = new CallAccount({ target, clientRequest, promptTokens });
  account.admit(await deps.reserveQuota(target, { promptTokens, maxTokens: 0, isClientConnected: () => !signal.aborted }));
  let isComplete = false;
  try {
    const body = await sendRequest(deps, { target, request, signal, account });
    isComplete = true;
    recordUsage(account, body);
    return {
      headers: account.headers,
      body: addMissing(body, account, deployment),
      used: () => account.usage.getBilledUsage(),
    };
  } finally {
    // A canceled call is charged, because the upstream may have worked on it.
    const used = isComplete || signal.aborted ? account.usage.getBilledUsage() : undefined;
    account.settle(used, isComplete);
    await account.report(used);
  }
}

interface AccountedCall extends EmbeddingsCall {
  readonly account: CallAccount;
}

/** Sends the request. An adapter receives a per-request key, which is revoked when the call ends. */
async function sendRequest(deps: EmbeddingsDeps, input: AccountedCall): Promise<JsonObject> {
  const { target, account } = input;
  if (!target.deployment.isApplicationBacked) return sendToUpstreams(deps, input);
  const key = await deps.perRequestKeys.issue(account.caller);
  try {
    return await sendToUpstreams(deps, input, toApplicationFields(target, key));
  } finally {
    await deps.perRequestKeys.revoke(key);
  }
}

function sendToUpstreams(
  deps: UpstreamDeps,
  { target, request, signal, account }: AccountedCall,
  applicationFields?: ApplicationFields,
): Promise<JsonObject> {
  const failoverInput = {
    target,
    secrets: applicationFields?.secrets ?? [],
    account,
    sendRequest(upstream: Upstream, attempt: AttemptRecord, reply: Sink<JsonObject>): Handle {
      const { embed } = deps.protocols[upstream.protocol];
      const traceHeaders = toTraceHeaders(target, attempt);
      const attemptFields = buildAttemptFields(upstream, { traceHeaders, applicationFields, account });
      if (embed !== undefined) return embed({ upstream, request, onQuotaHeaders: deps.onQuotaHeaders, ...attemptFields }, reply);
      throw new ParleyError('operation_not_supported', `The upstream of ${target.deployment.id} does not support embeddings.`);
    },
  };
  return fetchFromUpstreams(deps, failoverInput, signal);
}

/** Records the prompt tokens, if the upstream reported them. */
function recordUsage({ usage: totals }: CallAccount, { usage }: JsonObject): void {
  const tokens = isJsonObject(usage) && typeof usage.prompt_tokens === 'number' ? toCount(usage.prompt_tokens) : undefined;
  if (tokens !== undefined) totals.record({ usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } });
}

/** Returns the reply with `model` and `usage`, which some upstreams omit. */
function addMissing(body: JsonObject, { usage: totals }: CallAccount, { id }: Target['deployment']): JsonObject {
  const { prompt_tokens, total_tokens } = totals.getTotals().usage;
  const usage = isJsonObject(body.usage) ? body.usage : { prompt_tokens, total_tokens };
  return { ...body, model: typeof body.model === 'string' ? body.model : id, usage };
}
