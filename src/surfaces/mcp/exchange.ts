import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import { parseChatRequest } from '#contract/chat/chat-request.ts';
import type { Completion, ResponseAttachment } from '#contract/chat/chunk.ts';
import { foldFrames, toolResultBound } from '#contract/chat/fold-frames.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { type McpMessage, McpQuery, parseMcpQuery, parseMcpToolCall } from '#contract/mcp/message.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Answer, Call, Calls, ReplySink } from '#domain/calls/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { JoinedHeaders } from '../http/read-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type McpResponder, Progress, RpcError, withRpcError } from './mcp-responder.ts';
import type { RunningCalls } from './running-calls.ts';

const sessionHeader = 'mcp-session-id';

/** One message of a client to a deployment. */
interface Exchange {
  readonly calls: Calls;
  readonly running: RunningCalls;
  readonly context: RequestContext;
  readonly responder: McpResponder;
  readonly caller: Caller;
  readonly deployment: Deployment;
}

/** Answers a message. Rejects with `RpcError`. */
export async function answerMessage(exchange: Exchange, message: McpMessage): Promise<void> {
  const { context, responder, deployment, running } = exchange;
  if (message.id === undefined) {
    if (message.method === 'notifications/cancelled') running.cancel(toRunningCallKey(exchange, message.params?.requestId));
    return responder.accept();
  }
  const mode = getProtocolMode(context.request.headers as JoinedHeaders, message);
  const result = await createResult(exchange, mode, message);
  if (result === undefined) return responder.endWithoutResult();
  responder.answer(message.id, mode === 'stateless' ? toStatelessResult(deployment, result) : result);
}

/** Returns undefined for a canceled call. */
function createResult(exchange: Exchange, mode: ProtocolMode, message: McpMessage): JsonObject | Promise<JsonObject | undefined> {
  const { deployment, responder, context } = exchange;
  const { description: instructions } = deployment;
  switch (`${mode} ${message.method}`) {
    case 'sessions initialize': {
      // The session has no stored state. The ID only distinguishes the requests of different clients.
      responder.addHeader(sessionHeader, context.id);
      const protocolVersion = negotiateRevision(message.params?.protocolVersion);
      return { protocolVersion, capabilities, serverInfo: toServerInfo(deployment), instructions };
    }
    case 'sessions ping':
      return {};
    case 'stateless server/discover':
      return { ...cacheHints, supportedVersions: [statelessRevision], capabilities, instructions };
    case 'sessions tools/list':
    case 'stateless tools/list':
      return { ...cacheHints, tools: [toTool(deployment)] };
    case 'sessions tools/call':
    case 'stateless tools/call':
      return callTool(exchange, message);
    default: {
      const status = mode === 'stateless' ? 404 : 200;
      throw new RpcError('methodNotFound', `Unknown method "${message.method.slice(0, 200)}".`, { status });
    }
  }
}

function callTool(exchange: Exchange, message: McpMessage): Promise<JsonObject | undefined> {
  const { deployment, caller, context, responder, calls, running } = exchange;
  // Other methods do not count as use of the deployment.
  context.record.setDeployment(deployment.id);
  const details = { status: 200 };
  const { name, arguments: args = {} } = withRpcError('invalidParams', () => parseMcpToolCall(message.params ?? {}), details);
  const toolName = toToolName(deployment);
  if (name !== toolName)
    throw new RpcError('invalidParams', `Unknown tool "${name.slice(0, 200)}". The only tool is "${toolName}".`, details);
  const { progressToken: token } = getMeta(message);
  const isToken = typeof token === 'string' || typeof token === 'number';
  const progress = isToken && responder.acceptsEvents ? new Progress(token, responder, context.clock) : undefined;
  return running.run(toRunningCallKey(exchange, message.id), context.signal, (signal) => {
    const call = { id: context.id, deployment: deployment.id, caller, record: context.record, origin: context.request };
    return callDeployment(calls, { context, responder }, { call, signal, args, progress });
  });
}

function toRunningCallKey({ context, caller }: Exchange, requestId: unknown) {
  const { [sessionHeader]: session } = context.request.headers as JoinedHeaders;
  return { caller, session, requestId };
}

/** Cache lifetime of results. The configuration can change at any time. */
const cacheHints = { ttlMs: 60_000, cacheScope: 'private' };
const capabilities = { tools: {} };

/** Adds the fields that every result of the stateless revision has. */
function toStatelessResult(deployment: Deployment, result: JsonObject): JsonObject {
  return { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': toServerInfo(deployment) } };
}

/** Returns the tool name: the last segment of the ID, limited to 64 letters, digits, `_`, and `-`. Or `ask`, if the segment has no letter or digit. */
function toToolName({ id }: Pick<Deployment, 'id'>): string {
  const name = id
    .slice(id.lastIndexOf('/') + 1)
    .replace(/[^a-zA-Z0-9_-]+/g, '_')
    .slice(0, 64);
  return /[a-zA-Z0-9]/.test(name) ? name : 'ask';
}

function toTool(deployment: Deployment): JsonObject {
  const { id, displayName: title = id, description = `Asks ${title} and gives its answer.`, kind } = deployment;
  // A model has no side effects. An application may have some.
  const annotations = kind === 'model' ? { title, readOnlyHint: true, openWorldHint: false } : { title, openWorldHint: true };
  return { name: toToolName(deployment), title, description, inputSchema: McpQuery, annotations };
}

function toServerInfo({ id, displayName: title = id }: Deployment): JsonObject {
  return { name: packageJson.name, title, version: packageJson.version };
}

/** One tool call. */
interface ToolCall {
  readonly call: Call;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  readonly args: unknown;
  /** Undefined if the client did not request progress or does not accept an event stream. */
  readonly progress: Progress | undefined;
}

/** Calls a deployment and returns the tool result, which describes errors as text. Rejects if the client disconnected. */
async function callDeployment(
  calls: Calls,
  { context, responder }: { readonly context: RequestContext; readonly responder: McpResponder },
  { call, signal, args, progress }: ToolCall,
): Promise<JsonObject> {
  try {
    const target = await calls.authorize(call, 'chat');
    const { query } = parseMcpQuery(args);
    const request = parseChatRequest({ messages: [{ role: 'user', content: query }], stream: progress !== undefined });
    const start = (sink: ReplySink): Answer => {
      const answer = calls.answer(target, { request }, sink);
      context.attachAnswer(answer);
      if (progress !== undefined) responder.open();
      return answer;
    };
    const completion = await foldFrames(toAsyncIterable(start, signal), toolResultBound, (chunk) => progress?.report(chunk));
    return { content: toContent(completion) };
  } catch (error) {
    if (context.isDisconnected) throw error;
    return { content: [{ type: 'text', text: formatError(context.recordError(error)) }], isError: true };
  }
}

function formatError({ message, code, publicCode, retryAfterSeconds }: ParleyError): string {
  const retryHint = retryAfterSeconds === undefined ? '' : ` Try again after ${retryAfterSeconds} s.`;
  return `${message}${retryHint} (${publicCode ?? code})`;
}

const defaultType = 'text/markdown';
/** Media types whose data is text. Data of other types is in base64. */
const textMediaType = /^text\/|^application\/(json|xml|yaml|javascript|sql)$|\+(json|xml|yaml)$/;

/** Returns a reply as the content of a tool result: its text followed by its attachments. */
function toContent({ choices: [choice] }: Completion): JsonObject[] {
  const message = choice?.message;
  const attachments = (message?.custom_content?.attachments ?? []).flatMap(toContentItems);
  return [{ type: 'text', text: message?.content ?? '' }, ...attachments];
}

/** Returns an attachment as a content item. Returns no item for an attachment without data and URL. */
function toContentItems(attachment: ResponseAttachment, index: number): JsonObject[] {
  const { type: mimeType = defaultType, title, data, url, reference_url } = attachment;
  const link = url ?? reference_url;
  if (data === undefined) return link === undefined ? [] : [{ type: 'resource_link', uri: link, name: title ?? link, mimeType }];
  const isBytes = !textMediaType.test(mimeType);
  const [family = ''] = mimeType.split('/');
  if (isBytes && (family === 'image' || family === 'audio')) return [{ type: family, data, mimeType }];
  const resource = { uri: reference_url ?? `attachment:${index}`, mimeType, ...(isBytes ? { blob: data } : { text: data }) };
  return [{ type: 'resource', resource: { ...resource, ...(title !== undefined && { _meta: { title } }) } }];
}

/** Protocol revision with independent requests. */
const statelessRevision = '2026-07-28';
/** Protocol revisions with an `initialize` request, oldest first. */
const sessionRevisions = ['2025-03-26', '2025-06-18', '2025-11-25'] as const;
const newestSessionRevision = sessionRevisions[2];

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** Protocol mode: revisions with an `initialize` request, or the revision with independent requests. */
type ProtocolMode = 'sessions' | 'stateless';

/** Returns the protocol mode of a request. Throws `RpcError` if the revision is not supported or header and body disagree. */
function getProtocolMode(headers: JoinedHeaders, message: McpMessage): ProtocolMode {
  const meta = getMeta(message);
  const { 'mcp-protocol-version': headerRevision } = headers;
  if (!Object.hasOwn(meta, versionKey) && headerRevision !== statelessRevision) {
    const isKnown = headerRevision === undefined || (sessionRevisions as readonly string[]).includes(headerRevision);
    if (!isKnown && message.method !== 'initialize') throw createUnsupportedVersionError(headerRevision);
    return 'sessions';
  }
  requireMeta(meta);
  if (headerRevision !== meta[versionKey]) throw createMismatchError('MCP-Protocol-Version', String(meta[versionKey]));
  if (headerRevision !== statelessRevision) throw createUnsupportedVersionError(headerRevision);
  requireMatchingHeaders(headers, message);
  return 'stateless';
}

/** Returns the requested protocol revision if it is supported. Otherwise, returns the newest one. */
function negotiateRevision(requested: unknown): string {
  return sessionRevisions.find((revision) => revision === requested) ?? newestSessionRevision;
}

/** Returns `_meta` of a message, or an empty object. */
function getMeta({ params }: McpMessage): JsonObject {
  return toObject(params?._meta);
}

function requireMeta(meta: JsonObject): void {
  if (typeof meta[versionKey] !== 'string')
    throw new RpcError('invalidParams', `params._meta must have a string as ${versionKey}.`);
  if (!isJsonObject(meta[capabilitiesKey]))
    throw new RpcError('invalidParams', `params._meta must have an object as ${capabilitiesKey}.`);
}

/** Requires that headers match the body, because intermediaries may rely on them. */
function requireMatchingHeaders(headers: JoinedHeaders, { method, params }: McpMessage): void {
  if (headers['mcp-method'] !== method) throw createMismatchError('Mcp-Method', method);
  const name = method === 'tools/call' ? params?.name : undefined;
  if (typeof name === 'string' && decodeName(headers['mcp-name']) !== name) throw createMismatchError('Mcp-Name', name);
}

/** Decodes a tool name. Clients send a name in base64 if a header cannot contain it. */
function decodeName(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value ?? '') ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

function createMismatchError(header: string, expected: string): RpcError {
  return new RpcError('headerMismatch', `The header ${header} must match the body: ${expected.slice(0, 200)}.`);
}

function createUnsupportedVersionError(requested: string | undefined): RpcError {
  const supported = [statelessRevision, ...sessionRevisions.toReversed()];
  const message = `This protocol version is not supported. Supported versions: ${supported.join(', ')}.`;
  return new RpcError('unsupportedVersion', message, { data: { supported, requested } });
}
