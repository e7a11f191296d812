import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isJsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { parseChatRequest } from '#contract/chat/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { isPassThroughApi, type PassThroughApi } from '#contract/pass-through.ts';
import type { Calls } from '#domain/calls/call.ts';
import { authorizeCall, type PathDeployment } from '../http/authorize-call.ts';
import { type ErrorDialect, modelErrorDialect } from '../http/error-dialect.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { StreamedReply } from '../http/replies/streamed-reply.ts';
import type { Exchange } from '../http/request-context.ts';
import type { RequestHandler, RouteOptions } from '../http/request-handler.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { type CompatApi, canonicalPrefix, compatApis, type DeploymentBase, getApiForMetrics, readTarget } from './path.ts';
import { azureErrorDialect, ChoiceChunkWriter, chunkWriter, JsonReply } from './replies.ts';

export interface ChatCompletionDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  readonly passThrough: PassThroughSurface;
  /** Serves the Responses API on paths with a deployment. */
  readonly serveResponses: ServeResponses;
  /** Prefixes in addition to `compat`, such as `openai`. */
  readonly aliases: readonly string[];
}

/** Serves the pass-through APIs. */
interface PassThroughSurface {
  serve(exchange: PassThroughExchange): Promise<void>;
  maxFormBytes(request: IncomingMessage, api: PassThroughApi): number | undefined;
}

type ServeResponses = (exchange: Exchange, route: PathDeployment) => Promise<void>;

interface PassThroughExchange extends Exchange, Partial<PathDeployment> {
  readonly api: PassThroughApi;
}

const operations = { 'chat/completions': 'chat', embeddings: 'embeddings', responses: 'chat' } as const;

/**
 * Registers chat completions, embeddings, and pass-through APIs at `/{prefix}/deployments/{id}/…`. Also registers them at
 * `/v1/…` and `/{alias}/v1/…`, where `model` in the body names the deployment.
 */
export function chatCompletionRoutes(app: FastifyInstance, deps: ChatCompletionDeps): void {
  routesByPath(app, deps, { base: `/${canonicalPrefix}/deployments/`, isListed: true, requiresVersion: true });
  routesByModel(app, deps, '/v1');
  for (const alias of deps.aliases) {
    routesByPath(app, deps, { base: `/${alias}/deployments/`, isListed: true });
    routesByModel(app, deps, `/${alias}/v1`);
    // Used by Azure clients of the older API that are configured with the base URL of the newer one.
    routesByPath(app, deps, { base: `/${alias}/v1/deployments/`, isListed: false, isOpenAi: true });
  }
}

interface PathRules extends DeploymentBase {
  /** Whether streams follow the OpenAI API. */
  readonly isOpenAi?: boolean;
}

function routesByPath(app: FastifyInstance, deps: ChatCompletionDeps, { isOpenAi = false, ...pathBase }: PathRules): void {
  const { base } = pathBase;
  const optionsByApi = createRouteOptions(deps, `${base}{id}`, azureErrorDialect);
  serveCalls(app, `${base}*`, (raw) => {
    const url = raw.request.url ?? '';
    const api = getApiForMetrics(url, pathBase);
    return deps.handler.serve(optionsByApi[api], raw, (exchange) =>
      serve(deps, exchange, { ...readTarget(url, pathBase), isOpenAi }),
    );
  });
}

/** Returns the options of each API's route. */
function createRouteOptions(
  deps: ChatCompletionDeps,
  base: string,
  errorDialect: ErrorDialect,
): Readonly<Record<CompatApi, RouteOptions>> {
  const entries = [...compatApis, 'responses' as const].map((api): [CompatApi, RouteOptions] => {
    const options = { route: `${base}/${api}`, errorDialect };
    if (!isPassThroughApi(api)) return [api, { ...options, operation: operations[api] }];
    return [
      api,
      { ...options, operation: 'passthrough', maxBodyBytes: (request) => deps.passThrough.maxFormBytes(request, api) },
    ];
  });
  return Object.fromEntries(entries) as Record<CompatApi, RouteOptions>;
}

function routesByModel(app: FastifyInstance, deps: ChatCompletionDeps, base: string): void {
  const optionsByApi = createRouteOptions(deps, base, modelErrorDialect);
  for (const api of compatApis) {
    const route: DeploymentRoute = { api, isOpenAi: true };
    const serveApi = api === 'chat/completions' ? serveChat : serve;
    serveCalls(app, `${base}/${api}`, (raw) =>
      deps.handler.serve(optionsByApi[api], raw, (exchange) => serveApi(deps, exchange, route)),
    );
  }
}

interface DeploymentRoute extends Partial<PathDeployment> {
  readonly api: CompatApi;
  /** Whether streams follow the OpenAI API: a chunk without choices is sent only on request. */
  readonly isOpenAi: boolean;
}

async function serve(deps: ChatCompletionDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { api, deployment, checkVersion } = route;
  if (api === 'chat/completions') return serveChat(deps, exchange, route);
  if (api === 'embeddings') return serveEmbeddings(deps, exchange, route);
  if (api !== 'responses') return deps.passThrough.serve({ ...exchange, ...route, api });
  if (deployment === undefined || checkVersion === undefined) throw routeNotFound();
  return deps.serveResponses(exchange, { deployment, checkVersion });
}

async function serveChat(deps: ChatCompletionDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { context } = exchange;
  const wantsTrace = context.request.headers['x-parley-trace'] === 'true';
  const { target, value } = await authorizeCall(deps, exchange, { ...route, wantsTrace });
  const request = parseChatRequest(value);
  const { stream, stream_options: options } = request;
  const acceptsChunksWithoutChoices = !route.isOpenAi || (isJsonObject(options) && options.include_usage === true);
  const reply =
    stream === true
      ? new StreamedReply(context, acceptsChunksWithoutChoices ? chunkWriter : new ChoiceChunkWriter())
      : new JsonReply(context);
  await context.awaitReply(deps.calls.answer(target, { request, includesCost: context.wantsCost }, reply), reply);
}

async function serveEmbeddings(deps: ChatCompletionDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { context } = exchange;
  const { target, value } = await authorizeCall(deps, exchange, { ...route, use: 'embedding' });
  const reply = await deps.calls.embed(target, parseEmbeddingsRequest(value), context.signal);
  context.attachAnswer(reply);
  sendJson(context.response, 200, toLatin1(JSON.stringify(reply.body)), context.headers);
}
