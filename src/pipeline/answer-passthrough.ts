import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Usage } from '#contract/chat/chunk.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type PassThroughTraits, passThroughTraits } from '#contract/pass-through.ts';
import type { Answer, Target } from '#domain/calls/call.ts';
import type { AttemptRecord } from '#domain/calls/telemetry.ts';
import type { PassThroughFrame, PassThroughRequest, Upstream } from '#domain/upstreams/upstream.ts';
import { toUsage } from '#domain/usage/reported-usage.ts';
import { estimateTokens, getLength } from '#domain/usage/usage.ts';
import { CallAccount } from './call-account.ts';
import { toTraceHeaders, type UpstreamDeps } from './call-upstream.ts';
import { failover } from './failover.ts';
import { MeteredReply } from './metered-reply.ts';
import type { ReserveQuota } from './reserve-quota.ts';
import type { UsageTotals } from './usage-totals.ts';

/** Dependencies of `answerPassThrough`. */
export interface PassThroughDeps extends UpstreamDeps {
  readonly reserveQuota: ReserveQuota;
}

/** Answers a call whose request is passed through: reserves quota, calls the upstreams, and pushes the metered reply. */
export function answerPassThrough(deps: PassThroughDeps, input: PassThroughInput, reply: Sink<PassThroughFrame>): Answer {
  const { target, request: clientRequest } = input;
  const { deployment } = target;
  const request =
    'form' in clientRequest ? clientRequest : { ...clientRequest, body: { ...deployment.defaults, ...clientRequest.body } };
  const promptTokens = estimatePromptTokens(request);
  const account = new CallAccount({ target, clientRequest: {}, promptTokens });
  const metered = new MeteredReply<PassThroughFrame>(target, account, new CountedReply(account.usage, reply));
  const start = (sink: Sink<PassThroughFrame>): Handle => callUpstreams(deps, { target, request, account }, sink);
  const quotaRequest = { promptTokens, maxTokens: getMaxTokens(request), isClientConnected: () => !metered.hasEnded };
  deps.reserveQuota(target, quotaRequest).then(
    (reservation) => metered.begin(reservation, start),
    (error: unknown) => metered.reject(error),
  );
  return metered;
}

/** An authorized call whose request is passed through. */
export interface PassThroughInput {
  readonly target: Target;
  readonly request: PassThroughRequest;
}

function callUpstreams(
  deps: PassThroughDeps,
  { target, request, account }: PassThroughInput & { readonly account: CallAccount },
  sink: Sink<PassThroughFrame>,
): Handle {
  const failoverInput = {
    target,
    account,
    mayRepeat: () => !('form' in request) || request.form.canReopen,
    sendRequest(upstream: Upstream, attempt: AttemptRecord, reply: Sink<PassThroughFrame>): Handle {
      const protocol = deps.protocols[upstream.protocol];
      const headers = toTraceHeaders(target, attempt);
      if (protocol.passThrough !== undefined)
        return protocol.passThrough({ upstream, request, headers, onQuotaHeaders: deps.onQuotaHeaders }, reply);
      throw new ParleyError(
        'operation_not_supported',
        `The upstream of ${target.deployment.id} does not support ${request.api}. An operator can add an upstream with the protocol openai or azure.`,
      );
    },
  };
  return failover(deps, failoverInput, sink);
}

/** Passes a reply on, and counts its usage and its characters. */
class CountedReply implements Sink<PassThroughFrame> {
  hasStarted = false;
  readonly #totals: UsageTotals;
  readonly #reply: Sink<PassThroughFrame>;

  constructor(totals: UsageTotals, reply: Sink<PassThroughFrame>) {
    this.#totals = totals;
    this.#reply = reply;
  }

  push(frame: PassThroughFrame): void {
    if (!this.hasStarted && frame.kind !== 'json') this.#totals.markPartial();
    this.hasStarted = true;
    const usage = frame.usage && toTokenUsage(frame.usage);
    if (usage !== undefined) this.#totals.record({ usage });
    this.#totals.addChars(frame.chars);
    if (frame.bytes !== '') this.#reply.push(frame);
  }

  end(): void {
    this.#reply.end();
  }

  fail(error: unknown): void {
    this.#reply.fail(error);
  }
}

/**
 * Returns the usage of a reply. If it has only a total, all tokens count as prompt tokens. Returns undefined if the upstream
 * reports seconds or nothing.
 */
function toTokenUsage(usage: JsonObject): Usage | undefined {
  const { total_tokens } = usage;
  return toUsage(usage) ?? (typeof total_tokens === 'number' ? toUsage({ ...usage, prompt_tokens: total_tokens }) : undefined);
}

function estimatePromptTokens(request: PassThroughRequest): number {
  if ('form' in request) return request.form.promptTokens;
  const { promptFields: prompt }: PassThroughTraits = passThroughTraits[request.api];
  let tokens = 0;
  for (const field of prompt) tokens += estimateValueTokens(request.body[field]);
  return tokens;
}

/**
 * Returns the estimated tokens of a text, of lists at any depth, and of the `text` field of objects. A number counts as a token,
 * because the Completions API accepts token IDs. Images count as 0.
 */
function estimateValueTokens(value: unknown): number {
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') return estimateTokens(value.length);
  if (Array.isArray(value)) return value.reduce((sum: number, item: unknown) => sum + estimateValueTokens(item), 0);
  return isJsonObject(value) ? estimateTokens(getLength(value.text)) : 0;
}

/** Default of `max_tokens` in the Completions API. */
const defaultMaxTokens = 16;

/** Returns the maximum number of completion tokens: 0 for an API without completions, undefined if it is unknown. */
function getMaxTokens(request: PassThroughRequest): number | undefined {
  if (request.api !== 'completions' || !('body' in request)) return 0;
  const { max_tokens: maxTokens = defaultMaxTokens, n = 1, prompt } = request.body;
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;
  return typeof maxTokens === 'number' && typeof n === 'number' ? maxTokens * n * prompts : undefined;
}
