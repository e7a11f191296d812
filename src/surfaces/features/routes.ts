import { hash, randomUUID } from 'node:crypto';
import { splitPath, stripPathPrefix } from '#base/http/url-path.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { type ChatRequest, parseChatRequest, withDefaults } from '#contract/chat/chat-request.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import {
  parseInputs,
  parseRating,
  parseTokenizeRequest,
  type Rating,
  ratedAction,
  type TokenizeInput,
} from '#contract/features-request.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import type { Calls } from '#domain/calls/call.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import { type AddressFeature, type Deployment, findFeatureAddress, isBuiltIn } from '#domain/deployments/deployment.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';
import { type LimitCounters, toLimitAccount } from '#domain/limits/limit-counters.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { selectToDiscard } from '#domain/usage/prompt-budget.ts';
import { estimateRequestTokens, estimateTokens, findMaxTokens } from '#domain/usage/usage.ts';
import { parseBody, type SurfaceDeps } from '../http/read-request.ts';
import { endResponse } from '../http/replies/event-stream.ts';
import { privateFields } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { Exchange } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import type { ServeRaw } from '../http/serve-raw.ts';

/** Returns the number of tokens of a text or a request, with the estimate that limits use if an upstream reports no counts. */
function tokenize(input: TokenizeInput, model: Deployment): object {
  return catchFailure(() => ({ status: 'success', token_count: countInputTokens(input, model), estimated: true }));
}

function countInputTokens(input: TokenizeInput, model: Deployment): number {
  if (input.type === 'string') return estimateTokens(input.value.length);
  return estimateRequestTokens(prepareRequest(parseChatRequest(input.value), model));
}

/** Returns the messages to remove so that a request fits its own limit, or otherwise the limit of the model. */
function truncatePrompt(input: unknown, model: Deployment): object {
  return catchFailure(() => {
    const request = withDefaults(parseChatRequest(input), model.defaults);
    const maxTokens = getMaxPromptTokens(request, model);
    const discarded = maxTokens === undefined ? [] : selectToDiscard(request, maxTokens);
    if (discarded !== undefined) return { status: 'success', discarded_messages: discarded };
    throw new ParleyError(
      'invalid_request',
      `The instructions and the last message cannot be removed, and they exceed ${maxTokens} tokens.`,
    );
  });
}

function getMaxPromptTokens(request: ChatRequest, { limits = {} }: Deployment): number | undefined {
  const { max_prompt_tokens: requestedMax = null } = request;
  if (requestedMax !== null) {
    if (Number.isSafeInteger(requestedMax) && Number(requestedMax) >= 1) return Number(requestedMax);
    throw new ParleyError('invalid_request', 'max_prompt_tokens must be an integer of at least 1.');
  }
  const { maxPromptTokens, maxTotalTokens, maxCompletionTokens = 0 } = limits;
  if (maxPromptTokens !== undefined || maxTotalTokens === undefined) return maxPromptTokens;
  // The total limit applies to each choice of the reply separately.
  return Math.max(0, maxTotalTokens - (findMaxTokens({ ...request, n: 1 }) ?? maxCompletionTokens));
}

/** Returns the result of one input, or its error, which does not affect the other inputs. */
function catchFailure(compute: () => object): object {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ParleyError) return { status: 'error', error: error.message };
    throw error;
  }
}

export interface FeatureRoutesDeps extends Pick<SurfaceDeps, 'snapshot' | 'recordAudit' | 'clock'> {
  readonly handler: RequestHandler;
  readonly calls: Pick<Calls, 'callFeature'>;
  readonly catalog: Catalog;
  readonly counters: LimitCounters;
}

interface FeatureExchange extends Exchange {
  readonly deps: FeatureRoutesDeps;
  readonly deployment: Deployment;
  readonly bytes: Buffer;
}

interface Feature {
  readonly address: AddressFeature;
  /** Creates the response if the deployment has no endpoint for this feature. */
  readonly answer: (exchange: FeatureExchange) => unknown;
}

const features: Readonly<Record<string, Feature>> = {
  rate: { address: 'rateEndpoint', answer: storeRating },
  tokenize: {
    address: 'tokenizeEndpoint',
    answer: (exchange) => computeOutputs(exchange, parseTokenizeRequest(parseBody(exchange.bytes)), tokenize),
  },
  truncate_prompt: {
    address: 'truncatePromptEndpoint',
    answer: (exchange) => computeOutputs(exchange, parseInputs(parseBody(exchange.bytes)), truncatePrompt),
  },
};

const base = '/v1/deployments/';
/**
 * Path prefixes of other routes below `/v1`. Deployments whose IDs start with such a prefix can be rated only below
 * `/v1/deployments`.
 */
const otherRoutes = /^\/v1\/(?:deployments|consent|versions|ops|files|metadata|prompts|conversations|admin|user|models)\//;
/** Path prefix of other routes with methods other than POST. With POST, it can be the ID of an application to rate. */
const otherRoutesExceptPost = /^\/v1\/applications\//;

/**
 * Returns the routes `POST /v1/deployments/{id}/rate`, `/tokenize`, and `/truncate_prompt`, by last segment (docs/wire.md,
 * Features).
 */
export function featureRoutes(deps: FeatureRoutesDeps): ReadonlyMap<string, ServeRaw> {
  return new Map(
    Object.entries(features).map(([name, feature]) => {
      const options = { operation: 'chat', route: `${base}{id}/${name}` } as const;
      const serve: ServeRaw = (raw) => deps.handler.serve(options, raw, (exchange) => serveFeature(deps, exchange, feature));
      return [name, serve];
    }),
  );
}

/** Rewrites `/v1/{id}/rate` to the path below `/v1/deployments`. Returns other URLs unchanged. */
export function toRatePath(method: string | undefined, url: string): string {
  if (!/\/rate(?:\?|$)/.test(url) || !url.startsWith('/v1/') || otherRoutes.test(url)) return url;
  if (method !== 'POST' && otherRoutesExceptPost.test(url)) return url;
  return `${base}${url.slice('/v1/'.length)}`;
}

async function serveFeature(deps: FeatureRoutesDeps, { context, caller }: Exchange, { address, answer }: Feature): Promise<void> {
  const { handler, calls, catalog } = deps;
  const { request, response } = context;
  const bytes = await handler.readJson({ context, caller });
  const snapshot = deps.snapshot();
  // IDs may contain slashes. The last segment selects the operation.
  const { parent: encodedId } = splitPath(stripPathPrefix(base, request.url ?? ''));
  const deployment = await findUsable({ catalog, snapshot, caller }, toDeploymentId(encodedId));
  const endpoint = findFeatureAddress(deployment, address);
  if (endpoint === undefined) {
    if (!isBuiltIn(address, deployment)) throw new ParleyError('access_denied', `${deployment.id} does not serve this path.`);
    const body = await answer({ deps, context, caller, deployment, bytes });
    return sendJson(response, 200, toLatin1(JSON.stringify(body)), context.headers);
  }
  const body = { bytes, type: request.headers['content-type'] ?? 'application/json' };
  const featureCall = { endpoint, caller, deployment, snapshot, origin: request, requestId: context.id, body };
  const reply = await calls.callFeature(featureCall, context.signal);
  response.writeHead(reply.status, {
    ...reply.headers,
    ...privateFields,
    ...context.headers,
    'content-length': reply.bytes.length,
  });
  setImmediate(endResponse, response, reply.bytes.toString('latin1'));
}

function computeOutputs<Input>(
  { deployment }: FeatureExchange,
  inputs: readonly Input[],
  toOutput: (input: Input, model: Deployment) => object,
): object {
  return { outputs: inputs.map((input) => toOutput(input, deployment)) };
}

async function storeRating({ deps, context, caller, deployment, bytes }: FeatureExchange): Promise<object> {
  rejectPerRequestKey(caller, 'rate replies');
  const rating = parseRating(parseBody(bytes));
  const { subject } = caller;
  await countRating(deps, subject);
  const id = toRatingId(rating, { subject, deployment: deployment.id });
  deps.recordAudit({ id, action: ratedAction, subject, object: deployment.id, requestId: context.id, details: { ...rating } });
  return {};
}

/**
 * Returns the ID of a rating. All ratings of one user for one response share an ID, so a later rating replaces an earlier one.
 */
function toRatingId({ responseId }: Rating, { subject, deployment }: { subject: string; deployment: string }): string {
  if (responseId === undefined) return randomUUID();
  return `rating_${hash('sha256', JSON.stringify([subject, deployment, responseId]), 'base64url')}`;
}

const maxRatingsPerDay = 500;
const ratingLimits = [{ window: deploymentWindows.requestDay, total: maxRatingsPerDay, isOverall: false }];
/** Ratings are counted on all deployments together. No deployment has an empty ID. */
const everyDeployment = '';

/**
 * Counts one rating of a user, on all nodes together. Rejects with `request_limit_exceeded` if there are too many today, so that
 * a user cannot fill the audit log.
 */
async function countRating({ counters, clock }: FeatureRoutesDeps, subject: string): Promise<void> {
  const entry = { estimate: { tokens: 0, cost: 0 }, chainClaims: [], isClientConnected: () => true };
  const { statuses } = await counters.admit(toLimitAccount(subject, everyDeployment, ratingLimits), entry);
  const [status] = statuses;
  if (status === undefined || status.used < maxRatingsPerDay) return;
  const at = new Date(status.resetsAtMs).toISOString().replace('.000Z', 'Z');
  const message = `Your limit of ${maxRatingsPerDay} ratings per day is used up. It resets at ${at}.`;
  const retryAfterSeconds = Math.ceil((status.resetsAtMs - clock.epochMs()) / 1000);
  throw new ParleyError('request_limit_exceeded', message, { retryAfterSeconds });
}
