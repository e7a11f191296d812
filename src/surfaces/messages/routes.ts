import type { FastifyInstance } from 'fastify';
import { toLatin1 } from '#base/latin1.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { type CountRequest, parseCountRequest, parseMessagesRequest } from '#contract/messages/messages-request.ts';
import type { Call, Complete, CountTokens } from '#domain/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { NativeRequest } from '#domain/upstreams/upstream.ts';
import { estimatePromptTokens } from '#domain/usage/estimate-tokens.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { Body } from './body.ts';
import { canonicalPrefix, errorDialectOf } from './error-dialect.ts';
import { type ModelRoutesDeps, modelRoutes } from './model-routes.ts';
import { ReplyEvents } from './reply-events.ts';
import { checkCachePolicy, prefersCache, toNativeHeaders } from './request-headers.ts';
import { sendFolded, sendStream } from './send-reply.ts';
import { toChatRequest } from './to-chat-request.ts';
import { ToolNames } from './tool-names.ts';
import { findUnsupported } from './unsupported-fields.ts';
import { capabilitiesOf } from './upstream-capabilities.ts';

export interface MessagesTools extends ModelRoutesDeps {
  readonly handler: RequestHandler;
  readonly complete: Complete;
  readonly countTokens: CountTokens;
  /** Prefixes beside `msgapi`, such as `anthropic`. */
  readonly aliases: readonly string[];
}

/** `/{prefix}/v1/messages[/count_tokens]`, and the aliases' `/v1/models`: chat in the messages dialect (contract 7). */
export function messagesRoutes(app: FastifyInstance, tools: MessagesTools): void {
  for (const prefix of [canonicalPrefix, ...tools.aliases]) {
    const base = `/${prefix}/v1/messages`;
    const serves = [
      [base, serveMessages],
      [`${base}/count_tokens`, serveCount],
    ] as const;
    for (const [route, serve] of serves) {
      const facts = { operation: 'chat', route, errorDialect: errorDialectOf(prefix) } as const;
      serveCalls(app, route, (raw) => tools.handler.serve(facts, raw, (context) => serve(tools, context)));
    }
  }
  for (const alias of tools.aliases) modelRoutes(app, alias, tools);
}

async function serveMessages(tools: MessagesTools, context: RequestContext): Promise<void> {
  const names = new ToolNames();
  let isStreamed = false;
  let promptTokens = 0;
  let ignored: readonly string[] = [];
  const call = await open(tools, context, {
    names,
    parse: parseMessagesRequest,
    onRead(request, untold) {
      isStreamed = request.stream === true;
      promptTokens = estimatePromptTokens(request);
      ignored = untold;
    },
  });
  const reply = await tools.complete(call);
  const messageId = `msg_${context.id}`;
  const toToolName = (name: string): string => names.restore(name);
  const events = new ReplyEvents({ messageId, model: call.deployment, promptTokens, toToolName });
  await (isStreamed ? sendStream : sendFolded)(context, { reply, events, ignored });
}

async function serveCount(tools: MessagesTools, context: RequestContext): Promise<void> {
  const call = await open(tools, context, { names: new ToolNames(), parse: parseCountRequest });
  const input_tokens = await tools.countTokens(call);
  sendJson(context.response, 200, toLatin1(JSON.stringify({ input_tokens })), context.headers);
}

interface Reading {
  readonly names: ToolNames;
  readonly parse: (value: unknown) => CountRequest;
  /** Hears the translated request, and what the translation left out. */
  readonly onRead?: (request: ChatRequest, ignored: readonly string[]) => void;
}

async function open(
  tools: MessagesTools,
  context: RequestContext,
  { names, parse, onRead }: Reading,
): Promise<Call & Required<Pick<Call, 'native'>>> {
  const { caller, text } = await tools.handler.admit(context);
  const { headers } = context.request;
  const body = new Body(text);
  const deployment = body.model();
  context.record.deployment(deployment);
  let native: NativeRequest | undefined;
  const read = (found: Deployment): ChatRequest => {
    checkCachePolicy(headers);
    const parsed = parse(body.take());
    native = { dialect: 'messages', body: parsed, headers: toNativeHeaders(headers) };
    const capabilities = capabilitiesOf(found);
    const { fault, ignored } = findUnsupported(parsed, capabilities);
    if (fault !== undefined && !capabilities.isNative) throw fault;
    const request = toChatRequest(parsed, { names, capabilities });
    onRead?.(request, ignored);
    return request;
  };
  const takeNative = (): NativeRequest | undefined => {
    const taken = native;
    native = undefined;
    return taken;
  };
  const affinity = prefersCache(headers) ? body.prefix(caller.subject) : undefined;
  return {
    id: context.id,
    deployment,
    caller,
    signal: context.signal,
    record: context.record,
    read,
    native: takeNative,
    affinity,
  };
}
