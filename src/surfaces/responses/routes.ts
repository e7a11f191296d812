import type { FastifyInstance } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { answerBound, FoldLimit } from '#contract/chat/fold-frames.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { toSessionId } from '#contract/chat/session-id.ts';
import { createHttpRejection, ParleyError } from '#contract/errors/errors.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { Compaction } from '#contract/responses/response.ts';
import { parseResponsesRequest, type ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { Calls, ReplySink, Target } from '#domain/calls/call.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns, ResponseStart } from '#services/responses/background-runs.ts';
import { noStorage, type ResponseStorage } from '#services/responses/response-storage.ts';
import { authorizeCall, type PathDeployment } from '../http/authorize-call.ts';
import { type ErrorDialect, modelErrorDialect } from '../http/error-dialect.ts';
import { methodNotAllowed } from '../http/path-methods.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { streamRun } from '../http/replies/stream-run.ts';
import type { Exchange, RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { serveCalls } from '../http/serve-raw.ts';
import { createRun, type ReadyRun } from './create-run.ts';
import { listResponsesBases } from './openapi.ts';
import { buildHeaders, createStreamedReply, JsonResponse, toBytes } from './response-reply.ts';
import { findUpstreamCode, type ResponseRun } from './response-run.ts';
import type { HiddenContent } from './translation/sealed-thoughts.ts';

const responsesErrorDialect: ErrorDialect = {
  ...modelErrorDialect,
  toErrorBody(error, requestId) {
    const body = modelErrorDialect.toErrorBody(error, requestId) as { readonly error: object };
    const code = findUpstreamCode(error);
    return code === undefined ? body : { error: { ...body.error, code } };
  },
};

/** Maximum delay of `response.created` if the upstream is slow. An error within this time sets the HTTP status. */
const maxSilenceMs = 1000;

/** Services that create background responses and store their events. */
interface BackgroundServices {
  readonly runs: BackgroundRuns;
  readonly responses: ResponseStore;
}

export interface ResponsesDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  readonly seal: Seal;
  readonly newId: () => string;
  /** Prefixes such as `openai`. Routes below `/v1` also exist below `/openai/v1`. */
  readonly aliases: readonly string[];
  /** Undefined disables storing responses. */
  readonly storage?: ResponseStorage;
  /** Undefined disables background responses. */
  readonly background?: BackgroundServices;
}

/** Registers `/v1/responses` and the routes below it, also under each alias (docs/responses.md). */
export function responsesRoutes(app: FastifyInstance, deps: ResponsesDeps): void {
  for (const { base, acceptsVersion } of listResponsesBases(deps.aliases)) {
    const handlers = [
      [`${base}/responses`, serveCreate],
      [`${base}/responses/input_tokens`, serveCount],
      [`${base}/responses/compact`, serveCompact],
    ] as const;
    for (const [route, serve] of handlers) {
      const options = { operation: 'chat', route, errorDialect: responsesErrorDialect } as const;
      serveCalls(app, route, (raw) => deps.handler.serve(options, raw, (exchange) => serve(deps, exchange)));
    }
    if (acceptsVersion) continue;
    app.get(`${base}/responses`, ({ headers }) => {
      throw headers.upgrade === undefined ? methodNotAllowed('GET', ['POST']) : createWebSocketRejection();
    });
  }
}

/** Returns the error for a WebSocket request. Clients react to it by sending the request with POST. */
function createWebSocketRejection(): ParleyError {
  return createHttpRejection(426, 'WebSocket is not supported for responses. Send the request with POST over HTTP.', {
    headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' },
  });
}

/** Creates a response. `route` is present for `/{alias}/deployments/{id}/responses`. */
export async function serveCreate(deps: ResponsesDeps, exchange: Exchange, route?: PathDeployment): Promise<void> {
  const { context } = exchange;
  const { target, value: body } = await authorizeCall(deps, exchange, route);
  const value = route !== undefined && isJsonObject(body) ? { ...body, model: route.deployment } : body;
  const request = parseResponsesRequest(value);
  context.record.session ??= toSessionId(request.prompt_cache_key);
  if (request.background === true && deps.background !== undefined)
    return serveBackground(deps.background, context, { target, request, body: value });
  const opened = await selectStorage(deps, target).open(target, request);
  const prepared = await prepareRun(deps, context, { target, request, body: value as JsonObject, opened });
  const chatCall = { ...prepared.input, includesCost: context.wantsCost };
  if (request.stream !== true) {
    const reply = new JsonResponse(context, prepared.translation, prepared.listIgnoredFields);
    return context.awaitReply(deps.calls.answer(target, chatCall, reply), reply);
  }
  const reply = createStreamedReply(context, prepared.translation, prepared.listIgnoredFields);
  const onAdmitted = async (): Promise<void> => reply.beginWithin(maxSilenceMs);
  await context.awaitReply(deps.calls.answer(target, { ...chatCall, onAdmitted }, reply), reply);
}

/** Returns the storage for a call. A per-request key has no access to the stored responses of its user. */
function selectStorage({ storage = noStorage }: ResponsesDeps, { call }: Target): ResponseStorage {
  return call.caller.chain === null ? storage : noStorage;
}

/** Answers with the queued response, or with all of its events. */
async function serveBackground(
  background: BackgroundServices,
  context: RequestContext,
  runRequest: Parameters<BackgroundRuns['create']>[0],
): Promise<void> {
  const { response: queued, ignoredFields, ended } = await background.runs.create(runRequest);
  context.continueUntil(ended);
  const { response } = context;
  const headers = buildHeaders(context, ignoredFields);
  if (runRequest.request.stream !== true) return sendJson(response, 200, toLatin1(JSON.stringify(queued)), headers);
  const { subject } = runRequest.target.call.caller;
  // The run ends when the caller's key ends, so no separate check is needed.
  const ref = { id: queued.id, subject };
  await streamRun(background, response, { ref, after: -1, headers, hasLostAccess: () => false, toBytes });
}

interface OpenedRequest extends ResponseStart {
  readonly target: Target;
}

/** Creates the run of a request. Releases the opened resources if the request is rejected. */
async function prepareRun(
  deps: ResponsesDeps,
  { clock }: RequestContext,
  { target, ...start }: OpenedRequest,
): Promise<ReadyRun> {
  try {
    return createRun({ ...deps, clock }, target, start);
  } catch (error) {
    await start.opened.onEnded(undefined);
    throw error;
  }
}

async function serveCount(deps: ResponsesDeps, exchange: Exchange): Promise<void> {
  const { context } = exchange;
  const { target, value } = await authorizeCall(deps, exchange);
  const request = parseResponsesRequest(value);
  const opened = await selectStorage(deps, target).openUnlocked(target, request);
  const start = { target, request, body: value as JsonObject, opened, isCounted: true } as const;
  const { input: chatCall } = await prepareRun(deps, context, start);
  const input_tokens = await deps.calls.countTokens(target, chatCall, context.signal).finally(() => opened.onEnded(undefined));
  const body = { object: 'response.input_tokens', input_tokens };
  sendJson(context.response, 200, toLatin1(JSON.stringify(body)), context.headers);
}

async function serveCompact(deps: ResponsesDeps, exchange: Exchange): Promise<void> {
  const { context } = exchange;
  const { target, value } = await authorizeCall(deps, exchange);
  const { model, input, instructions, previous_response_id, prompt_cache_key } = parseResponsesRequest(value);
  const request: ResponsesRequest = {
    model,
    input,
    ...(instructions !== undefined && { instructions }),
    ...(previous_response_id !== undefined && { previous_response_id }),
    ...(prompt_cache_key !== undefined && { prompt_cache_key }),
  };
  const existing = await selectStorage(deps, target).openUnlocked(target, request);
  const opened = { ...existing, input: [...existing.input, compactionPrompt] };
  const prepared = await prepareRun(deps, context, { target, request, body: { ...request }, opened });
  const reply = new CompactReply(context, prepared);
  await context.awaitReply(deps.calls.answer(target, prepared.input, reply), reply);
}

const prompt = [
  'Summarize this conversation for yourself. It continues from your summary alone, without the earlier messages.',
  'Keep each fact, name, number, decision, and instruction that may matter, the requests that are not done yet, and the results of tools.',
  'Write only the summary.',
].join(' ');

/** Message that requests a summary of the preceding conversation. */
const compactionPrompt: AnyItem = { type: 'message', role: 'user', content: prompt };

interface CompactionContext {
  readonly translation: ResponseRun;
  readonly seal: (thoughts: HiddenContent) => string;
}

/** Sends the summary of a deployment as an item that replaces the summarized items. */
class CompactReply implements ReplySink {
  readonly #context: RequestContext;
  readonly #compaction: CompactionContext;
  readonly #budget = new FoldLimit(answerBound);

  constructor(context: RequestContext, compaction: CompactionContext) {
    this.#context = context;
    this.#compaction = compaction;
  }

  /** Throws `upstream_failed` if the reply is too large. */
  push(frame: Frame): void {
    this.#budget.consume(frame);
    this.#compaction.translation.consume(frame);
  }

  /** Throws `upstream_failed` if the summary is empty. */
  end(): void {
    const context = this.#context;
    const { translation: run, seal } = this.#compaction;
    run.end();
    const summary = getOutputText(run);
    if (summary.trim() === '') throw new ParleyError('upstream_failed', 'The deployment returned an empty summary.');
    const { id, created_at, usage } = run.response;
    const compaction: Compaction = {
      id,
      object: 'response.compaction',
      created_at,
      output: [{ type: 'compaction', id: `cmp_${id.slice('resp_'.length)}`, encrypted_content: seal({ summary }) }],
      usage: usage ?? noUsage,
    };
    sendJson(context.response, 200, toLatin1(JSON.stringify(compaction)), context.headers);
  }

  fail(error: unknown): void {
    this.#context.sendError(error);
    this.#compaction.translation.abandon();
  }
}

const noUsage: Compaction['usage'] = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

function getOutputText({ response }: ResponseRun): string {
  return response.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}
