import type { FastifyInstance } from 'fastify';
import { isJsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/text-bytes.ts';
import { type AskedVersion, checkApiVersion, missingApiVersion } from '#contract/api-version.ts';
import { parseChatRequest } from '#contract/chat-request.ts';
import { parseEmbeddingsRequest } from '#contract/embeddings-request.ts';
import { isPassThroughApi, type PassThroughApi } from '#contract/pass-through.ts';
import type { Calls, Target } from '#domain/call.ts';
import { routeNotFound } from '../http/answer-methods.ts';
import { type ErrorDialect, modelErrorDialect } from '../http/error-dialect.ts';
import { parseBody, readModel } from '../http/read-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler, RouteFacts } from '../http/request-handler.ts';
import { sendJson } from '../http/send-json.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { StreamedReply } from '../http/streamed-reply.ts';
import { compatEvents, EventsWithChoices } from './compat-events.ts';
import { azureErrorDialect } from './error-dialect.ts';
import { JsonReply } from './json-reply.ts';
import { apiOfPath, type CompatApi, compatApis, type DeploymentPlace, readId, readTarget } from './path.ts';

export interface CompatDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Serves the APIs that are passed through. */
  readonly servePassThrough: ServePassThrough;
  /** Serves the Responses API on paths of deployments. */
  readonly serveResponses: ServeResponses;
  /** Prefixes that stand for `compat`, such as `openai`. */
  readonly aliases: readonly string[];
}

/** Serves one request of an API that is passed through; its deployment is named by the path, or by `model` of its body. */
type ServePassThrough = (context: RequestContext, api: PassThroughApi, asked: PassThroughAsked) => Promise<void>;

type ServeResponses = (
  context: RequestContext,
  named: { readonly deployment: string; readonly checkVersion: () => void },
) => Promise<void>;

interface PassThroughAsked {
  /** Undefined if the body's `model` names the deployment. */
  readonly deployment: string | undefined;
  /** Throws what is wrong with the version in the path; to be called once the caller may use the deployment. */
  readonly checkVersion: () => void;
}

const canonicalPrefix = 'compat';
const operations = { 'chat/completions': 'chat', embeddings: 'embeddings', responses: 'chat' } as const;

/**
 * Chat completions, embeddings and the APIs that are passed through: `/{prefix}/deployments/{id}/…`, and `/v1/…` with `/{alias}/v1/…` beside it, where
 * `model` of the body names the deployment.
 */
export function compatRoutes(app: FastifyInstance, deps: CompatDeps): void {
  routesByPath(app, deps, { base: `/${canonicalPrefix}/deployments/`, isListed: true, requiresVersion: true });
  routesByModel(app, deps, '/v1');
  for (const alias of deps.aliases) {
    routesByPath(app, deps, { base: `/${alias}/deployments/`, isListed: true });
    routesByModel(app, deps, `/${alias}/v1`);
    // Clients of Azure's older form that are given the address of the newer one ask here.
    routesByPath(app, deps, { base: `/${alias}/v1/deployments/`, isListed: false, isOpenAi: true });
  }
}

interface PathRules extends DeploymentPlace {
  readonly requiresVersion?: boolean;
  /** Whether streams are those of OpenAI's API. */
  readonly isOpenAi?: boolean;
}

function routesByPath(app: FastifyInstance, deps: CompatDeps, { requiresVersion, isOpenAi, ...place }: PathRules): void {
  const { base } = place;
  const facts = factsOf(`${base}{id}`, azureErrorDialect);
  serveCalls(app, `${base}*`, (raw) => {
    const url = raw.request.url ?? '';
    const api = apiOfPath(url, place);
    return deps.handler.serve(facts[api], raw, (context) => {
      const target = readTarget(url, place);
      const needsVersion = requiresVersion === true && target.version === undefined;
      return serve(deps, context, { ...target, needsVersion, isOpenAi: isOpenAi === true });
    });
  });
}

/** What the route of each API is, for measures and logs. */
function factsOf(base: string, errorDialect: ErrorDialect): Readonly<Record<CompatApi, RouteFacts>> {
  const entries = [...compatApis, 'responses' as const].map((api): [CompatApi, RouteFacts] => {
    const operation = isPassThroughApi(api) ? 'passthrough' : operations[api];
    return [api, { operation, route: `${base}/${api}`, errorDialect }];
  });
  return Object.fromEntries(entries) as Record<CompatApi, RouteFacts>;
}

function routesByModel(app: FastifyInstance, deps: CompatDeps, base: string): void {
  const byModel = { encodedId: undefined, version: undefined, needsVersion: false, isOpenAi: true };
  const facts = factsOf(base, modelErrorDialect);
  for (const api of compatApis) {
    const asked: Asked = { ...byModel, api };
    const serveApi = api === 'chat/completions' ? serveChat : serve;
    serveCalls(app, `${base}/${api}`, (raw) => deps.handler.serve(facts[api], raw, (context) => serveApi(deps, context, asked)));
  }
}

interface Asked {
  readonly api: CompatApi;
  /** Undefined if the body's `model` names the deployment. */
  readonly encodedId: string | undefined;
  readonly version: AskedVersion | undefined;
  readonly needsVersion: boolean;
  /** Whether a stream has chunks without choices only if they are asked for. */
  readonly isOpenAi: boolean;
}

async function serve(deps: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { api } = asked;
  if (api === 'chat/completions') return serveChat(deps, context, asked);
  if (api === 'embeddings') return serveEmbeddings(deps, context, asked);
  const deployment = asked.encodedId === undefined ? undefined : readId(asked.encodedId);
  if (api === 'responses') {
    if (deployment === undefined) throw routeNotFound();
    return deps.serveResponses(context, { deployment, checkVersion: () => checkVersion(asked) });
  }
  return deps.servePassThrough(context, api, { deployment, checkVersion: () => checkVersion(asked) });
}

async function serveChat(deps: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { target, body } = await authorize(deps, context, { ...asked, use: 'chat' });
  const request = parseChatRequest(body);
  const { stream, stream_options: options } = request;
  const takesBareChunks = !asked.isOpenAi || (isJsonObject(options) && options.include_usage === true);
  const reply =
    stream === true
      ? new StreamedReply(context, takesBareChunks ? compatEvents : new EventsWithChoices())
      : new JsonReply(context);
  context.follow(deps.calls.answer(target, { request, includesCost: context.wantsCost }, reply), reply);
}

async function serveEmbeddings(deps: CompatDeps, context: RequestContext, asked: Asked): Promise<void> {
  const { target, body } = await authorize(deps, context, { ...asked, use: 'embedding' });
  const reply = await deps.calls.embed(target, parseEmbeddingsRequest(body), context.signal);
  context.answeredBy(reply);
  sendJson(context.response, 200, toLatin1(JSON.stringify(reply.body)), context.headers);
}

/** The body of a request whose path names the deployment is not parsed before the caller may use that. */
async function authorize(
  { handler, calls }: CompatDeps,
  context: RequestContext,
  { use, ...asked }: Asked & { readonly use: 'chat' | 'embedding' },
): Promise<{ readonly target: Target; readonly body: unknown }> {
  const { caller, bytes } = await handler.authenticate(context);
  const named = asked.encodedId === undefined ? parseBody(bytes) : undefined;
  const deployment = asked.encodedId === undefined ? readModel(named) : readId(asked.encodedId);
  const { id, record, request } = context;
  record.deployment(deployment);
  const wantsTrace = request.headers['x-parley-trace'] === 'true';
  const target = await calls.authorize({ id, deployment, caller, record, origin: request, wantsTrace }, use);
  if (asked.version !== undefined || asked.needsVersion) checkVersion(asked);
  return { target, body: named ?? parseBody(bytes) };
}

function checkVersion({ version, needsVersion }: Asked): void {
  if (version !== undefined) checkApiVersion(version);
  else if (needsVersion) throw missingApiVersion();
}
