import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Serve, startWebServer } from './support.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool of a test server. */
export interface ServedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: { readonly readOnlyHint?: boolean };
  readonly inputSchema?: object;
  readonly run: (args: Arguments, context: ServerContext) => ServerResult | Promise<ServerResult>;
}

type ServerResult = Partial<CallToolResult> | InputRequiredResult;

export interface ServerOptions {
  /** Maximum number of tools on a page. All tools are on one page by default. */
  readonly pageSize?: number;
  readonly ttlMs?: number;
  /** The `instructions` of the server. */
  readonly instructions?: string;
  /** Texts by URI. */
  readonly resources?: Readonly<Record<string, string>>;
  /** Texts by name. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Called before the server. Returns undefined to pass the request on. */
  readonly before?: (request: Request) => Response | undefined | Promise<Response | undefined>;
}

/** Starts a server that supports only the 2026-07-28 revision. */
export function startStateless(tools: readonly ServedTool[], options: ServerOptions = {}) {
  const handler = createMcpHandler(() => toServer(() => tools, options), { legacy: 'reject' });
  return startWebServer(through(options, (request) => handler.fetch(request)));
}

interface Sessions {
  /** Open sessions by ID, oldest first. */
  readonly open: ReadonlyMap<string, Server>;
  /** Forgets all sessions, as a restart does. */
  forget(): void;
}

/** Starts a server of the 2025 revisions, which have sessions. Tools may change while it runs. */
export async function startSessions(tools: ServedTool[], options: ServerOptions = {}) {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = new Map<string, Server>();
  const serve: Serve = async (request) => {
    const known = transports.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return known.handleRequest(request);
    if (request.headers.has('mcp-session-id'))
      return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, { status: 404 });
    const server = toServer(() => tools, options);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized(id) {
        transports.set(id, transport);
        open.set(id, server);
      },
      onsessionclosed(id) {
        transports.delete(id);
        open.delete(id);
      },
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  const forget = (): void => {
    transports.clear();
    open.clear();
  };
  const web = await startWebServer(through(options, serve));
  return { ...web, sessions: { open, forget } satisfies Sessions };
}

/** Parses the JSON-RPC message of a request without consuming its body. Returns an empty object if there is no message. */
async function parseMessage(request: Request): Promise<{ readonly method?: string; readonly id?: unknown }> {
  return request.method === 'POST' ? ((await request.clone().json()) as { method: string; id: unknown }) : {};
}

/** Answers requests of one method in place of the server. */
export function instead(method: string, answer: (id: unknown) => Response): NonNullable<ServerOptions['before']> {
  return async (request) => {
    const message = await parseMessage(request);
    return message.method === method ? answer(message.id) : undefined;
  };
}

export function text(value: string): { content: [{ type: 'text'; text: string }] } {
  return { content: [{ type: 'text', text: value }] };
}

/** A tool that echoes its argument `text`. */
export const echo: ServedTool = {
  name: 'echo',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  run: (args) => text(`echo ${args.text}`),
};

function through({ before }: ServerOptions, serve: Serve): Serve {
  return async (request) => (await before?.(request)) ?? serve(request);
}

function toServer(tools: () => readonly ServedTool[], options: ServerOptions): Server {
  const { pageSize = 1000, ttlMs, instructions, resources, prompts } = options;
  const capabilities = { tools: { listChanged: true }, ...(resources && { resources: {} }), ...(prompts && { prompts: {} }) };
  const server = new Server({ name: 'under-test', version: '1' }, { capabilities, ...(instructions && { instructions }) });
  if (resources !== undefined) serveResources(server, resources);
  if (prompts !== undefined) servePrompts(server, prompts);
  server.setRequestHandler('tools/list', ({ params }) => {
    const start = Number(params?.cursor ?? 0);
    const end = start + pageSize;
    return {
      tools: tools()
        .slice(start, end)
        .map(({ run: _run, inputSchema = { type: 'object' }, ...tool }) => ({
          ...tool,
          inputSchema: inputSchema as { type: 'object' },
        })),
      ...(end < tools().length && { nextCursor: String(end) }),
      ...(ttlMs !== undefined && { ttlMs }),
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools().find(({ name }) => name === params.name);
    if (tool === undefined) return { ...text(`there is no ${params.name}`), isError: true };
    const served = await tool.run(params.arguments ?? {}, context);
    return { content: [], ...served } as CallToolResult;
  });
  return server;
}

function serveResources(server: Server, resources: NonNullable<ServerOptions['resources']>): void {
  server.setRequestHandler('resources/list', () => ({ resources: Object.keys(resources).map((uri) => ({ uri, name: uri })) }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [{ uri, text: resources[uri] ?? '' }] }));
}

function servePrompts(server: Server, prompts: NonNullable<ServerOptions['prompts']>): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: Object.keys(prompts).map((name) => ({ name })) }));
  server.setRequestHandler('prompts/get', ({ params: { name } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: prompts[name] ?? '' } }],
  }));
}
