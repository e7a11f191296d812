import type { Random } from '../random.ts';
import { close, type Step, wait } from '../upstreams/fault.ts';
import { drawFraming, drawReplyField, frameEvents, toFieldValue, toSteps } from './framing.ts';
import { spoilOnePlace, toJson } from './places.ts';
import { type DrawnText, drawText } from './texts.ts';

const inputSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: { a: { type: 'string', description: 'Text' } },
  type: 'object',
  title: 'Title',
  properties: {
    city: { type: 'string', title: 'City', description: 'Text', pattern: '^(a|b)+$', enum: ['a'], format: 'date-time' },
    list: { type: 'array', items: { oneOf: [{ type: 'string', pattern: '^a*$' }, { $ref: '#/$defs/a' }] } },
    inner: {
      type: 'object',
      properties: { a: { type: 'object', properties: { b: { type: 'string', const: 'x', 'x-mcp-header': 'B' } } } },
    },
  },
  patternProperties: { '^x-': { type: 'string' } },
  allOf: [{ properties: { more: { type: 'string' } }, required: ['more'] }],
  required: ['city'],
};
const tool = {
  name: 'look',
  title: 'Look',
  description: 'Looks.',
  inputSchema,
  annotations: { title: 'T', readOnlyHint: true },
  _meta: { a: 'b' },
};
const serverInfo = { name: 'server', title: 'Server', version: '1' };
const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} };
const content = [
  { type: 'text', text: 'It', annotations: { audience: ['user'] } },
  { type: 'image', data: 'iVBORw0=', mimeType: 'image/png' },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'https://x.test/a', name: 'a', title: 'A', description: 'D', mimeType: 'text/plain' },
  { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'It' } },
];

/** Valid results by method. */
const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities, serverInfo, instructions: 'Be kind.' },
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities,
    serverInfo,
    instructions: 'Be kind.',
    resultType: 'complete',
  },
  'tools/list': { tools: [tool, { ...tool, name: 'see' }] },
  'tools/call': { content, structuredContent: { a: 'b', list: [{ c: 'd' }] } },
  'resources/list': { resources: [{ uri: 'file:///a', name: 'a', title: 'A', description: 'D', mimeType: 'text/plain' }] },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'file:///{a}', name: 'a', title: 'A', description: 'D' }] },
  'resources/read': { contents: [{ uri: 'file:///a', mimeType: 'text/plain', text: 'It' }] },
  'prompts/list': { prompts: [{ name: 'p', title: 'P', description: 'D', arguments: [{ name: 'a', description: 'D' }] }] },
};
const questions = {
  method: 'elicitation/create',
  params: {
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { city: { type: 'string', title: 'C', description: 'D', pattern: '^a$' } } },
  },
};
const notices = [
  { method: 'notifications/message', params: { level: 'info', logger: 'l', data: { a: 'b' } } },
  { method: 'notifications/progress', params: { progressToken: 0, progress: 1, message: 'm' } },
  { method: 'notifications/tools/list_changed', params: { a: 'b' } },
];
const errorStatuses = [400, 401, 403, 404, 429, 500];
const sseGapMs = 40;

/** The hostile part of the replies of one server. All other replies are valid. */
export interface HostileServer {
  readonly title: string;
  readonly isSse: boolean;
  /** Creates the reply to one request. */
  readonly reply: (request: { readonly method: string; readonly body: string }) => readonly Step[];
}

const attacks = [
  'result',
  'result',
  'result',
  'error',
  'refusal',
  'field',
  'session',
  'framing',
  'many notices',
  'a question',
] as const;

/** Draws a server with hostile replies to one method. */
export function drawServer(random: Random, isLarge: boolean): HostileServer {
  const hostile = drawText(random, isLarge);
  const isModern = random.chance(0.5);
  const isSse = !isModern && random.chance(0.15);
  const attack = random.pick(attacks);
  const method = random.pick([
    isModern ? 'server/discover' : 'initialize',
    ...['tools/list', 'tools/list', 'tools/call', 'tools/call', 'resources/list', 'prompts/list'],
  ]);
  const drawn = random.fork();
  const session = attack === 'session' ? toFieldValue(hostile.build(random.pick([40, 10_000]))) : 'session-1';
  const { what } = spoilOnePlace(results[method], hostile, drawn.fork());
  const title = `${isModern ? 'stateless' : isSse ? 'sse' : 'sessions'} ${method} ${attack} ${attack === 'result' ? what : ''}: ${hostile.name}`;
  const answer = { hostile, attack, hostileMethod: method, random: drawn, session };
  return {
    title,
    isSse,
    reply({ method: verb, body }) {
      if (isSse && verb === 'GET') return toEventStream(answer);
      if (verb !== 'POST') return toSteps({ ...text(''), status: verb === 'GET' ? 405 : 200 });
      const request = parseRequest(body);
      if (isSse || request.id === undefined) return toSteps({ ...text(''), status: 202 });
      const isUnknown = isModern ? request.method === 'initialize' : request.method === 'server/discover';
      if (isUnknown)
        return toSteps(
          text(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: { code: -32601, message: 'Method not found' } })),
        );
      return toAnswer(request, answer);
    },
  };
}

interface UpstreamExchange {
  readonly hostile: DrawnText;
  readonly attack: (typeof attacks)[number];
  readonly hostileMethod: string;
  readonly random: Random;
  readonly session: string;
}

interface McpRequest {
  readonly method: string;
  readonly id: unknown;
}

const text = (body: string) => ({ contentType: 'application/json', pieces: [Buffer.from(body)], isStream: false });

function toAnswer({ method, id }: McpRequest, exchange: UpstreamExchange): readonly Step[] {
  const { hostile, attack, hostileMethod, session } = exchange;
  const random = exchange.random.fork();
  const isHostile = method === hostileMethod;
  const fields = [
    ...(method === 'initialize' ? [`mcp-session-id: ${session}`] : []),
    ...(isHostile && attack === 'field' ? [drawReplyField(hostile, random)] : []),
  ];
  if (isHostile && attack === 'refusal') {
    const status = random.pick(errorStatuses);
    const challenge = random.chance(0.5)
      ? [`www-authenticate: Bearer resource_metadata="${toFieldValue(hostile.build(2_000))}"`]
      : [];
    return toSteps({ ...text(hostile.build(random.pick([40, 30_000]))), status, fields: [...fields, ...challenge] });
  }
  const messages = toMessages({ method, id }, { ...exchange, random, attack: isHostile ? attack : 'result', isHostile });
  const last = messages.at(-1) ?? '';
  if (messages.length === 1 && attack !== 'framing' && random.chance(0.5)) return toSteps({ ...text(last), fields });
  const events = messages.map((data) => ({ name: 'message', data }));
  const pieces = isHostile
    ? frameEvents(events, drawFraming(random), hostile)
    : events.map(({ data }) => Buffer.from(`data: ${data}\n\n`));
  return toSteps({ contentType: 'text/event-stream', pieces, isStream: true, fields });
}

/** Creates the messages in order. The response is the last one. */
function toMessages(
  { method, id }: McpRequest,
  { hostile, attack, random, isHostile }: UpstreamExchange & { readonly isHostile: boolean },
): readonly string[] {
  const write = (fields: object): string => toJson({ jsonrpc: '2.0', ...fields }, random);
  const spoil = (value: unknown): unknown => (isHostile ? spoilOnePlace(value, hostile, random).build() : value);
  const good = results[method] ?? {};
  if (attack === 'error')
    return [write({ id, error: spoil({ code: -32602, message: 'Wrong', data: { a: 'b', url: 'https://x.test' } }) })];
  const answer = write({ id, result: attack === 'result' ? spoil(good) : good });
  if (attack === 'a question') return [write({ id: 'q1', ...(spoil(questions) as object) }), answer];
  if (attack !== 'many notices') return [answer];
  const notice = write(spoil(random.pick(notices)) as object);
  return [...Array.from({ length: hostile.limitCount(notice.length > 10_000 ? 10 : 5_000) }, () => notice), answer];
}

/** Steps of the older transport: responses arrive on one stream, some time after each request. */
function toEventStream(exchange: UpstreamExchange): readonly Step[] {
  const methods = ['initialize', 'tools/list', 'tools/call'];
  const [start, ...remainingSteps] = toSteps({
    contentType: 'text/event-stream',
    pieces: [
      Buffer.from(
        `event: endpoint\ndata: ${exchange.attack === 'session' ? `?s=${encodeURIComponent(exchange.hostile.build(2_000).toWellFormed())}` : '?s=1'}\n\n`,
      ),
      ...methods.flatMap((method, id) => {
        const isHostile = method === exchange.hostileMethod;
        const messages = toMessages(
          { method, id },
          { ...exchange, random: exchange.random.fork(), attack: isHostile ? exchange.attack : 'result', isHostile },
        );
        const events = messages.map((data) => ({ name: 'message', data }));
        return [
          Buffer.concat(
            isHostile
              ? frameEvents(events, drawFraming(exchange.random.fork()), exchange.hostile)
              : events.map(({ data }) => Buffer.from(`event: message\ndata: ${data}\n\n`)),
          ),
        ];
      }),
    ],
    isStream: true,
  });
  return [...(start === undefined ? [] : [start]), ...remainingSteps.flatMap((step) => [step, wait(sseGapMs)]), close];
}

function parseRequest(body: string): McpRequest {
  try {
    const { method = '', id } = JSON.parse(body) as { method?: string; id?: unknown };
    return { method, id };
  } catch {
    return { method: '', id: undefined };
  }
}
