import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { toObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { findSessionInMetadata } from '#contract/chat/session-id.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type CountRequest, parseCountRequest, parseMessagesRequest } from '#contract/messages/messages-request.ts';
import type { Calls, Target } from '#domain/calls/call.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import { type Abilities, type Deployment, getAbilities } from '#domain/deployments/deployment.ts';
import { findUsable, listUsable } from '#domain/deployments/usable-deployments.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { estimatePromptTokens } from '#domain/usage/usage.ts';
import { authorizeCall } from '../http/authorize-call.ts';
import { type JoinedHeaders, readCredentials, type SurfaceDeps } from '../http/read-request.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { StreamedReply } from '../http/replies/streamed-reply.ts';
import type { Exchange, RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { canonicalPrefix, getErrorDialect } from './error-dialect.ts';
import { JsonMessage, MessageWriter } from './message-reply.ts';
import { ReplyEvents } from './reply-events.ts';
import { toChatRequest } from './to-chat-request.ts';
import { ToolNames } from './to-messages.ts';
import { findUnsupported, getCapabilities } from './unsupported-fields.ts';

export interface MessagesDeps extends ModelRoutesDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Prefixes in addition to `msgapi`, such as `anthropic`. */
  readonly aliases: readonly string[];
}

const missingModelMessage = 'model: must name a deployment. GET /anthropic/v1/models lists the deployments that you may use.';

/** Registers `/{prefix}/v1/messages[/count_tokens]`, and `/v1/models` below the aliases (docs/compatibility.md, Messages API). */
export function messagesRoutes(app: FastifyInstance, deps: MessagesDeps): void {
  for (const prefix of [canonicalPrefix, ...deps.aliases]) {
    const base = `/${prefix}/v1/messages`;
    const handlers = [
      [base, serveMessages],
      [`${base}/count_tokens`, serveCount],
    ] as const;
    for (const [route, serve] of handlers) {
      const options = { operation: 'chat', route, errorDialect: getErrorDialect(prefix) } as const;
      serveCalls(app, route, (raw) => deps.handler.serve(options, raw, (exchange) => serve(deps, exchange)));
    }
  }
  for (const alias of deps.aliases) modelRoutes(app, alias, deps);
}

async function serveMessages(deps: MessagesDeps, exchange: Exchange): Promise<void> {
  const { calls } = deps;
  const { context } = exchange;
  const { target, value, affinity } = await authorize(deps, exchange);
  const names = new ToolNames();
  const parsed = parseMessagesRequest(value);
  context.record.session ??= findSessionInMetadata(parsed);
  const { request, nativeRequest, ignored } = toChatCall(context, { target, names, parsed });
  const events = new ReplyEvents({
    messageId: `msg_${context.id}`,
    model: target.call.deployment,
    promptTokens: estimatePromptTokens(request),
    toToolName: (name) => names.restore(name),
  });
  const reply =
    request.stream === true
      ? new StreamedReply(context, new MessageWriter(events, ignored))
      : new JsonMessage(context, events, ignored);
  const chatCall = { request, nativeRequest, isTranslated: true, affinity, includesCost: context.wantsCost };
  await context.awaitReply(calls.answer(target, chatCall, reply), reply);
}

async function serveCount(deps: MessagesDeps, exchange: Exchange): Promise<void> {
  const { context } = exchange;
  const { target, value } = await authorize(deps, exchange);
  const chatCall = toChatCall(context, { target, names: new ToolNames(), parsed: parseCountRequest(value) });
  const input_tokens = await deps.calls.countTokens(target, chatCall, context.signal);
  sendJson(context.response, 200, toLatin1(JSON.stringify({ input_tokens })), context.headers);
}

async function authorize(deps: MessagesDeps, exchange: Exchange) {
  const { target, value } = await authorizeCall(deps, exchange, { missingModelMessage });
  const affinity = prefersCache(exchange.context.request.headers)
    ? hashConversationStart(value, target.call.caller.subject)
    : undefined;
  return { target, value, affinity };
}

interface TranslationInput {
  readonly target: Target;
  readonly names: ToolNames;
  readonly parsed: CountRequest;
}

/**
 * Returns the request in both dialects, with the fields that the translation omits. Throws a 400 error if no upstream supports
 * the Messages API and the request cannot be translated.
 */
function toChatCall({ request: { headers } }: RequestContext, { target, names, parsed }: TranslationInput) {
  const capabilities = getCapabilities(target.deployment);
  const { error, ignored } = findUnsupported(parsed, capabilities);
  if (error !== undefined && !capabilities.mayBeRelayed) throw error;
  const nativeRequest: NativeRequest = { dialect: 'messages', body: parsed, headers: toNativeHeaders(headers) };
  return { request: toChatRequest(parsed, { names, capabilities }), nativeRequest, ignored };
}

/** Returns the same hash for all turns of one user's conversation, to select the upstream with its prompt cache. */
function hashConversationStart(body: unknown, subject: string): string {
  const { system, messages } = toObject(body);
  const [first] = Array.isArray(messages) ? messages : [];
  return hash('sha256', JSON.stringify([subject, system, first]), 'base64url');
}

interface ModelRoutesDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot'> {
  readonly catalog: Catalog;
  /** Creation time of all deployments, in seconds since the epoch. */
  readonly createdSeconds: number;
}

/** Registers `/{alias}/v1/models[/{id}]`, which lists the available deployments in the format of the dialect. */
function modelRoutes(
  app: FastifyInstance,
  alias: string,
  { snapshot, catalog, identify, createdSeconds }: ModelRoutesDeps,
): void {
  const base = `/${alias}/v1/models`;
  const toItem = (deployment: Deployment): object => toModelItem(deployment, new Date(createdSeconds * 1000).toISOString());
  app.get(base, async ({ raw }) => {
    const caller = await identify(readCredentials(raw, true), raw, 'accepts bound keys');
    const usable = await listUsable({ catalog, snapshot: snapshot(), caller }, isChat);
    const ids = usable.map(({ id }) => id);
    return { data: usable.map(toItem), has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
  });
  app.get(`${base}/*`, async ({ raw, url }) => {
    const caller = await identify(readCredentials(raw, true), raw, 'accepts bound keys');
    const id = toDeploymentId(stripPathPrefix(`${base}/`, url));
    return toItem(await findUsable({ catalog, snapshot: snapshot(), caller }, id, isChat));
  });
}

function isChat({ type }: Deployment): boolean {
  return type === 'chat';
}

/** Returns a list entry with all fields of the dialect. Unknown values are null. */
function toModelItem(deployment: Deployment, created_at: string): object {
  const { id, displayName } = deployment;
  const abilities = getAbilities(deployment);
  return {
    type: 'model',
    id,
    display_name: displayName ?? id,
    created_at,
    max_input_tokens: abilities.contextTokens ?? null,
    max_tokens: abilities.maxOutputTokens ?? null,
    capabilities: toCapabilities(abilities),
    line: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
  };
}

/** Returns all capabilities of the dialect. Capabilities that require a Claude model are unsupported for other models. */
function toCapabilities({ readsImages, readsPdfs, supportsReasoning, isClaude }: Abilities): object {
  const support = (supported: boolean) => ({ supported });
  const [reasoning, claudeReasoning] = [support(supportsReasoning), support(supportsReasoning && isClaude)];
  return {
    batch: support(false),
    citations: support(isClaude),
    code_execution: support(isClaude),
    context_management: {
      ...{ supported: isClaude, clear_thinking_20251015: null, clear_tool_uses_20250919: null, compact_20260112: null },
    },
    effort: {
      ...{ ...reasoning, low: reasoning, medium: reasoning, high: reasoning },
      ...{ max: claudeReasoning, xhigh: null },
    },
    image_input: support(readsImages),
    pdf_input: support(readsPdfs),
    server_tools: { supported: isClaude, code_execution: support(isClaude), web_search: support(isClaude) },
    structured_outputs: support(true),
    thinking: { ...reasoning, types: { adaptive: claudeReasoning, enabled: reasoning } },
  };
}

const policyHeader = 'x-core-cache-policy';

/** Returns the headers for an upstream of the dialect: version and betas. Clients can send the version under two names. */
function toNativeHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const joined = headers as JoinedHeaders;
  const version = joined['anthropic-version'] ?? joined['msgapi-version'];
  const betas = joined['anthropic-beta'];
  return { ...(version && { 'anthropic-version': version }), ...(betas && { 'anthropic-beta': betas }) };
}

/**
 * Returns whether the conversation should stay with one upstream for its prompt cache (`X-CORE-CACHE-POLICY`,
 * docs/compatibility.md). Throws `invalid_request` for an unknown policy.
 */
function prefersCache({ [policyHeader]: policy }: IncomingHttpHeaders): boolean {
  if (policy !== undefined && policy !== 'availability-priority' && policy !== 'cache-priority')
    throw new ParleyError('invalid_request', 'X-CORE-CACHE-POLICY must be availability-priority or cache-priority.');
  return policy === 'cache-priority';
}
