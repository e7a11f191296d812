import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isJsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { checkApiVersion, createMissingVersionError, type RequestedVersion } from '#contract/api-version.ts';
import { parseChatRequest } from '#contract/chat/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { isPassThroughApi, type PassThroughApi } from '#contract/pass-through.ts';
import type { Calls, Target } from '#domain/call.ts';
import { type ErrorDialect, modelErrorDialect } from '../http/error-dialect.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { isLargeBody, parseBody, readModel } from '../http/read-request.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { StreamedReply } from '../http/replies/streamed-reply.ts';
import type { Exchange } from '../http/request-context.ts';
import type { RequestHandler, RouteOptions } from '../http/request-handler.ts';
import { serveCalls } from '../http/serve-raw.ts';
import {
  type CompatApi,
  canonicalPrefix,
  compatApis,
  type DeploymentBase,
  getApiForMetrics,
  readId,
  readTarget,
} from './path.ts';
import { azureErrorDialect, ChoiceChunkWriter, chunkWriter, JsonReply } from './replies.ts';

export interface CompatDeps {
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

type ServeResponses = (
  exchange: Exchange,
  route: { readonly deployment: string; readonly checkVersion: () => void },
) => Promise<void>;

interface PassThroughExchange extends Exchange {
  readonly api: PassThroughApi;
  /** Undefined if `model` in the body names the deployment. */
  readonly deployment: string | undefined;
  /** Throws if the version in the path is invalid. Call it after authorization. */
  readonly checkVersion: () => void;
}

const operations = { 'chat/completions': 'chat', embeddings: 'embeddings', responses: 'chat' } as const;

/**
 * Registers chat completions, embeddings, and pass-through APIs at `/{prefix}/deployments/{id}/…`. Also registers them at
 * `/v1/…` and `/{alias}/v1/…`, where `model` in the body names the deployment.
 */
export function compatRoutes(app: FastifyInstance, deps: CompatDeps): void {
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
  readonly requiresVersion?: boolean;
  /** Whether streams follow the OpenAI API. */
  readonly isOpenAi?: boolean;
}

function routesByPath(app: FastifyInstance, deps: CompatDeps, { requiresVersion, isOpenAi, ...pathBase }: PathRules): void {
  const { base } = pathBase;
  const optionsByApi = createRouteOptions(deps, `${base}{id}`, azureErrorDialect);
  serveCalls(app, `${base}*`, (raw) => {
    const url = raw.request.url ?? '';
    const api = getApiForMetrics(url, pathBase);
    return deps.handler.serve(optionsByApi[api], raw, (exchange) => {
      const target = readTarget(url, pathBase);
      const needsVersion = requiresVersion === true && target.version === undefined;
      return serve(deps, exchange, { ...target, needsVersion, isOpenAi: isOpenAi === true });
    });
  });
}

/** Returns the options of each API's route. */
function createRouteOptions(
  deps: CompatDeps,
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

function routesByModel(app: FastifyInstance, deps: CompatDeps, base: string): void {
  const byModel = { encodedId: undefined, version: undefined, needsVersion: false, isOpenAi: true };
  const optionsByApi = createRouteOptions(deps, base, modelErrorDialect);
  for (const api of compatApis) {
    const route: DeploymentRoute = { ...byModel, api };
    const serveApi = api === 'chat/completions' ? serveChat : serve;
    serveCalls(app, `${base}/${api}`, (raw) =>
      deps.handler.serve(optionsByApi[api], raw, (exchange) => serveApi(deps, exchange, route)),
    );
  }
}

/** API, deployment, and version that the path of a request names. */
interface DeploymentRoute {
  readonly api: CompatApi;
  /** Undefined if `model` in the body names the deployment. */
  readonly encodedId: string | undefined;
  readonly version: RequestedVersion | undefined;
  readonly needsVersion: boolean;
  /** Whether streams follow the OpenAI API: a chunk without choices is sent only on request. */
  readonly isOpenAi: boolean;
}

async function serve(deps: CompatDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { api } = route;
  if (api === 'chat/completions') return serveChat(deps, exchange, route);
  if (api === 'embeddings') return serveEmbeddings(deps, exchange, route);
  const deployment = route.encodedId === undefined ? undefined : readId(route.encodedId);
  if (api === 'responses') {
    if (deployment === undefined) throw routeNotFound();
    return deps.serveResponses(exchange, { deployment, checkVersion: () => checkVersion(route) });
  }
  return deps.passThrough.serve({ ...exchange, api, deployment, checkVersion: () => checkVersion(route) });
}

async function serveChat(deps: CompatDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { context } = exchange;
  const { target, body } = await authorize(deps, exchange, { ...route, use: 'chat' });
  const request = parseChatRequest(body);
  const { stream, stream_options: options } = request;
  const acceptsChunksWithoutChoices = !route.isOpenAi || (isJsonObject(options) && options.include_usage === true);
  const reply =
    stream === true
      ? new StreamedReply(context, acceptsChunksWithoutChoices ? chunkWriter : new ChoiceChunkWriter())
      : new JsonReply(context);
  await context.follow(deps.calls.answer(target, { request, includesCost: context.wantsCost }, reply), reply);
}

async function serveEmbeddings(deps: CompatDeps, exchange: Exchange, route: DeploymentRoute): Promise<void> {
  const { context } = exchange;
  const { target, body } = await authorize(deps, exchange, { ...route, use: 'embedding' });
  const reply = await deps.calls.embed(target, parseEmbeddingsRequest(body), context.signal);
  context.attachAnswer(reply);
  sendJson(context.response, 200, toLatin1(JSON.stringify(reply.body)), context.headers);
}

/** Authorizes the call and parses the body. If the path names the deployment, the body is parsed after authorization. */
async function authorize(
  { handler, calls }: CompatDeps,
  { context, caller }: Exchange,
  { use, ...route }: DeploymentRoute & { readonly use: 'chat' | 'embedding' },
): Promise<{ readonly target: Target; readonly body: unknown }> {
  const bytes = await handler.readJson(context);
  const { length } = bytes;
  const parsed = route.encodedId === undefined ? parseBody(bytes) : undefined;
  const deployment = route.encodedId === undefined ? readModel(parsed) : readId(route.encodedId);
  const { id, record, request } = context;
  record.setDeployment(deployment);
  const wantsTrace = request.headers['x-parley-trace'] === 'true';
  const target = await calls.authorize({ id, deployment, caller, record, origin: request, wantsTrace }, use);
  if (route.version !== undefined || route.needsVersion) checkVersion(route);
  const body = parsed ?? parseBody(bytes);
  if (isLargeBody(length)) await new Promise(setImmediate);
  return { target, body };
}

function checkVersion({ version, needsVersion }: DeploymentRoute): void {
  if (version !== undefined) checkApiVersion(version);
  else if (needsVersion) throw createMissingVersionError();
}
