import type { FastifyInstance, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import type { Clock } from '#base/time/clock.ts';
import { parseChatRequest } from '#contract/chat/chat-request.ts';
import { endEvent, toEvent } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { chatIdPattern } from '#contract/page/stored-chat.ts';
import { isExcludedByKey } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import type { Calls } from '#domain/calls/call.ts';
import { toChatRunRef } from '#domain/responses/chat-run.ts';
import type { ResponseRef, ResponseStore, StoredResponse } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { authorizeCall } from '../http/authorize-call.ts';
import { modelErrorDialect } from '../http/error-dialect.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { type Query, readInteger } from '../http/query.ts';
import { identifyCaller } from '../http/read-request.ts';
import { sendJson } from '../http/replies/send-json.ts';
import { streamRun } from '../http/replies/stream-run.ts';
import type { Exchange } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { serveEarly, serveRaw } from '../http/serve-raw.ts';

export interface ChatRunDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  readonly identify: Identify;
  readonly runs: BackgroundRuns;
  readonly responses: ResponseStore;
  readonly clock: Clock;
  /** Called after a user ended a run, to notify another node that may run it. */
  readonly notifyEnded: (id: string) => void;
  /** Returns whether the caller's key is no longer valid or the user is blocked. */
  readonly hasLostAccess: (caller: Caller) => boolean;
}

const base = '/v1/chat-runs/';
const toBytes = (events: readonly JsonObject[]): string => events.map(toEvent).join('');

/** Serves `/v1/chat-runs/{run}`: chat completions that continue without their client (docs/wire.md, Chat runs). */
export function chatRunRoutes(app: FastifyInstance, deps: ChatRunDeps): void {
  const url = `${base}:run`;
  const options = { operation: 'chat', route: `${base}{run}`, errorDialect: modelErrorDialect } as const;
  serveRaw(app, 'POST', url, (raw) => deps.handler.serve(options, raw, (exchange) => start(deps, exchange)));
  app.get(url, async (request, reply) => {
    const after = readInteger(request.query as Query, 'starting_after') ?? -1;
    const { ref, caller } = await find(deps, request);
    reply.hijack();
    const hasLostAccess = () => deps.hasLostAccess(caller);
    const headers = { 'x-request-id': request.id };
    await streamRun(deps, reply.raw, { ref, after, headers, hasLostAccess, toBytes, toEnd: () => toEnd(deps, ref) });
    return reply;
  });
  serveEarly(app, { method: 'POST', url: `${url}/cancel` }, async (request) => {
    const { ref } = await find(deps, request);
    // Cancels a run on this node first, so that the store contains all of its events.
    await deps.runs.cancel(ref.id);
    const canceled = await deps.responses.cancel(ref);
    if (canceled === undefined) throw runNotFound();
    deps.notifyEnded(ref.id);
    return toVisibleRun(canceled);
  });
  serveEarly(app, { method: 'DELETE', url }, async (request, reply) => {
    const { ref } = await find(deps, request);
    await remove(deps, ref);
    reply.code(204);
  });
}

/**
 * Starts a run and sends its chunks. An error before the first chunk sets the status, as for a direct call, and deletes the run. If
 * the client has disconnected by then, the run remains, so that the client can request it.
 */
async function start(deps: ChatRunDeps, exchange: Exchange): Promise<void> {
  const { context, caller } = exchange;
  rejectPerRequestKey(caller, 'start chat runs');
  const id = toId(stripPathPrefix(base, context.request.url ?? ''));
  const { target, value } = await authorizeCall(deps, exchange);
  if (target.snapshot.configuration.responses.store === 'never') throw routeNotFound();
  const request = parseChatRequest(value);
  if (request.store === false) throw createRequestError('store', 'must not be false, because the chunks of a run are stored');
  const ref = toChatRunRef(caller, id);
  const input = { request: { ...request, stream: true }, includesCost: context.wantsCost };
  const { response: run, started, answer } = await deps.runs.startChatRun({ target, input, id, ref });
  context.handOverRecord();
  context.continueUntil(answer.ended);
  context.attachAnswer(answer);
  const { response } = context;
  if (request.stream !== true) return sendJson(response, 200, toLatin1(JSON.stringify(run)), context.headers);
  const error = await started;
  if (context.isDisconnected) return;
  if (error !== undefined) {
    await remove(deps, ref);
    throw error;
  }
  // The run ends together with the reader's access, so no separate check is needed.
  const reader = { ref, after: -1, headers: context.replyHeaders, hasLostAccess: () => false };
  await streamRun(deps, response, { ...reader, toBytes, toEnd: () => toEnd(deps, ref) });
}

/** Returns the end of a stream: the run with its final status, unless the run was deleted, and `data: [DONE]`. */
async function toEnd({ responses, clock }: ChatRunDeps, ref: ResponseRef): Promise<string> {
  const stored = await responses.find(ref, clock.epochMs());
  return (stored === undefined ? '' : toEvent(toVisibleRun(stored))) + endEvent;
}

async function remove({ runs, responses, notifyEnded }: ChatRunDeps, ref: ResponseRef): Promise<void> {
  await responses.delete(ref);
  runs.drop(ref.id);
  notifyEnded(ref.id);
}

interface FoundRun {
  readonly ref: ResponseRef;
  readonly caller: Caller;
}

/** Throws `response_not_found` for the run of another user, or of a deployment that the key excludes. */
async function find(deps: ChatRunDeps, request: FastifyRequest): Promise<FoundRun> {
  const { responses, clock } = deps;
  const caller = await identifyCaller(deps, request, 'accepts bound keys');
  rejectPerRequestKey(caller, 'use chat runs');
  const ref = toChatRunRef(caller, toId((request.params as { run: string }).run));
  const stored = await responses.find(ref, clock.epochMs());
  if (stored === undefined || isExcludedByKey(caller, String(toVisibleRun(stored).model))) throw runNotFound();
  return { ref, caller };
}

function toVisibleRun({ response, status }: StoredResponse): JsonObject {
  return { ...(isJsonObject(response.run) && response.run), status };
}

function toId(text: string): string {
  if (!chatIdPattern.test(text)) throw runNotFound();
  return text;
}

function runNotFound(): ParleyError {
  return new ParleyError(
    'response_not_found',
    'You have no chat run with this ID. An ID has at most 64 of the characters A-Z, a-z, 0-9, _, and -.',
  );
}
