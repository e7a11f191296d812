import type { FastifyInstance } from 'fastify';
import { splitPath, stripPathPrefix } from '#base/http/url-path.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type McpMessage, parseMcpMessage } from '#contract/mcp/message.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Calls } from '#domain/calls/call.ts';
import type { Catalog } from '#domain/deployments/catalog.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { findUsable } from '#domain/deployments/usable-deployments.ts';
import type { NodeBroadcast } from '#domain/node-broadcast.ts';
import { methodNotAllowed, routeNotFound, toAllowed } from '../http/path-methods.ts';
import { parseBody } from '../http/read-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { type ServeRaw, serveRaw } from '../http/serve-raw.ts';
import { answerMessage } from './exchange.ts';
import { McpResponder, RpcError, readAccepted, rejectOtherOrigins, withRpcError } from './mcp-responder.ts';
import { RunningCalls } from './running-calls.ts';

export interface McpServerDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  readonly snapshot: () => ConfigSnapshot;
  readonly catalog: Catalog;
  /** Handlers of the other POST routes of a deployment, by the last path segment. */
  readonly otherRoutes: ReadonlyMap<string, ServeRaw>;
  /** Undefined if there are no other nodes or workers. */
  readonly broadcast?: NodeBroadcast | undefined;
}

const base = '/v1/deployments/';
const routeOptions = { operation: 'chat', route: `${base}{id}/mcp` } as const;

/** Registers `POST /v1/deployments/{id}/mcp`, which serves a deployment as an MCP server over streamable HTTP with one tool. */
export function mcpRoutes(app: FastifyInstance, deps: McpServerDeps): void {
  const { broadcast } = deps;
  // If the notice does not reach the node of the call, the call runs to its end.
  const running = new RunningCalls((text) => void broadcast?.publish({ topic: 'mcp-call', text }).catch(() => undefined));
  broadcast?.onNotice(({ topic, text }) => {
    if (topic === 'mcp-call') running.cancelByKey(text);
  });
  const serveMcp: ServeRaw = (raw) =>
    deps.handler.serve(routeOptions, raw, ({ context, caller }) => {
      const encodedId = getEncodedId(raw.request.url ?? '');
      return serve(deps, running, { context, caller, encodedId });
    });
  serveRaw(app, 'POST', `${base}*`, (raw) => {
    const { name } = splitPath(stripPathPrefix(base, raw.request.url ?? ''));
    return (deps.otherRoutes.get(name) ?? serveMcp)(raw);
  });
}

/** Returns the encoded deployment ID in a URL. IDs may contain slashes, so the last segment selects the operation. */
function getEncodedId(url: string): string {
  const { parent, name } = splitPath(stripPathPrefix(base, url));
  if (parent !== '' && name === 'mcp') return parent;
  if (parent === '' || !/^(limits|configuration|documents)$/.test(name)) throw routeNotFound();
  throw methodNotAllowed('POST', toAllowed(['GET']));
}

interface RawExchange {
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly encodedId: string;
}

async function serve(deps: McpServerDeps, running: RunningCalls, exchange: RawExchange): Promise<void> {
  const { context, caller, encodedId } = exchange;
  rejectOtherOrigins(context.request, deps.snapshot().configuration.security.allowedOrigins);
  const responder = new McpResponder(context, readAccepted(context.request));
  const bytes = await deps.handler.readJson(exchange);
  const deployment = await findChatDeployment(deps, caller, encodedId);
  let id: McpMessage['id'];
  try {
    const value = withRpcError('parseError', () => parseBody(bytes));
    const message = withRpcError('invalidRequest', () => parseMcpMessage(value));
    id = message.id;
    await answerMessage({ calls: deps.calls, running, context, responder, caller, deployment }, message);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    context.recordError(error);
    responder.reject(id, error);
  } finally {
    responder.close();
  }
}

async function findChatDeployment({ snapshot, catalog }: McpServerDeps, caller: Caller, encodedId: string): Promise<Deployment> {
  const deployment = await findUsable({ catalog, snapshot: snapshot(), caller }, toDeploymentId(encodedId));
  if (deployment.type === 'chat') return deployment;
  throw new ParleyError('operation_not_supported', `${deployment.id} does not support chat completions.`);
}
