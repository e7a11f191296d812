import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isJsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/text-bytes.ts';
import { type CountRequest, parseCountRequest, parseMessagesRequest } from '#contract/messages/messages-request.ts';
import { findSessionInMetadata } from '#contract/session-id.ts';
import type { Calls, Target } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { estimatePromptTokens } from '#domain/usage/usage.ts';
import { authorizeByModel } from '../http/authorize-by-model.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { StreamedReply } from '../http/streamed-reply.ts';
import { canonicalPrefix, errorDialectOf } from './error-dialect.ts';
import { JsonMessage, MessageWriter } from './message-reply.ts';
import { type ModelRoutesDeps, modelRoutes } from './model-routes.ts';
import { ReplyEvents } from './reply-events.ts';
import { checkCachePolicy, prefersCache, toNativeHeaders } from './request-headers.ts';
import { toChatRequest } from './to-chat-request.ts';
import { ToolNames } from './tool-names.ts';
import { findUnsupported } from './unsupported-fields.ts';
import { capabilitiesOf } from './upstream-capabilities.ts';

export interface MessagesDeps extends ModelRoutesDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Prefixes beside `msgapi`, such as `anthropic`. */
  readonly aliases: readonly string[];
}

const unnamed = 'model: must name a deployment; GET /anthropic/v1/models lists yours.';

/** `/{prefix}/v1/messages[/count_tokens]`, and the aliases' `/v1/models`: chat in the messages dialect (docs/wire.md, Messages). */
export function messagesRoutes(app: FastifyInstance, deps: MessagesDeps): void {
  for (const prefix of [canonicalPrefix, ...deps.aliases]) {
    const base = `/${prefix}/v1/messages`;
    const serves = [
      [base, serveMessages],
      [`${base}/count_tokens`, serveCount],
    ] as const;
    for (const [route, serve] of serves) {
      const facts = { operation: 'chat', route, errorDialect: errorDialectOf(prefix) } as const;
      serveCalls(app, route, (raw) => deps.handler.serve(facts, raw, (context, caller) => serve(deps, { context, caller })));
    }
  }
  for (const alias of deps.aliases) modelRoutes(app, alias, deps);
}

async function serveMessages(deps: MessagesDeps, asked: Asked): Promise<void> {
  const { calls } = deps;
  const { context } = asked;
  const { target, value, affinity } = await authorize(deps, asked);
  const names = new ToolNames();
  const parsed = parseMessagesRequest(value);
  context.record.session ??= findSessionInMetadata(parsed);
  const { request, native, ignored } = toChatAsk(context, { target, names, parsed });
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
  await context.follow(calls.answer(target, { request, native, affinity, includesCost: context.wantsCost }, reply), reply);
}

async function serveCount(deps: MessagesDeps, asked: Asked): Promise<void> {
  const { context } = asked;
  const { target, value } = await authorize(deps, asked);
  const ask = toChatAsk(context, { target, names: new ToolNames(), parsed: parseCountRequest(value) });
  const input_tokens = await deps.calls.countTokens(target, ask, context.signal);
  sendJson(context.response, 200, toLatin1(JSON.stringify({ input_tokens })), context.headers);
}

interface Asked {
  readonly context: RequestContext;
  readonly caller: Caller;
}

interface Authorized {
  readonly target: Target;
  /** Of the body. */
  readonly value: unknown;
  readonly affinity: string | undefined;
}

async function authorize(deps: MessagesDeps, asked: Asked): Promise<Authorized> {
  const { target, value } = await authorizeByModel(deps, asked, { unnamed });
  const { headers } = asked.context.request;
  checkCachePolicy(headers);
  const affinity = prefersCache(headers) ? conversationPrefix(value, target.call.caller.subject) : undefined;
  return { target, value, affinity };
}

interface Translating {
  readonly target: Target;
  readonly names: ToolNames;
  readonly parsed: CountRequest;
}

/** The request in both dialects, with the fields that the translation leaves out. Throws 400 for one that cannot be translated if it has to be. */
function toChatAsk({ request: { headers } }: RequestContext, { target, names, parsed }: Translating) {
  const capabilities = capabilitiesOf(target.deployment);
  const { fault, ignored } = findUnsupported(parsed, capabilities);
  if (fault !== undefined && !capabilities.isNative) throw fault;
  const native: NativeRequest = { dialect: 'messages', body: parsed, headers: toNativeHeaders(headers) };
  return { request: toChatRequest(parsed, { names, capabilities }), native, ignored };
}

/** The same text for all turns of one conversation of a user: what a prompt cache goes by. */
function conversationPrefix(body: unknown, subject: string): string {
  const { system, messages } = isJsonObject(body) ? body : {};
  const [first] = Array.isArray(messages) ? messages : [];
  return hash('sha256', JSON.stringify([subject, system, first]), 'base64url');
}
