import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { mayUseRecord } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import { isChatRunId } from '#domain/responses/chat-run.ts';
import { countPageItems, type ItemQuery } from '#domain/responses/conversation-store.ts';
import type { ChainLink, ResponseRef, ResponseStore, StoredResponse } from '#domain/responses/response-store.ts';
import { isVisibleItem, listItems, toVisibleResponse } from '#domain/responses/stored-items.ts';
import type { BackgroundRuns } from '#services/responses/background-runs.ts';
import { type Query, readFlag, readInteger } from '../../http/query.ts';
import { identifyCaller, identifyUser, type SurfaceDeps } from '../../http/read-request.ts';
import { LargeReplies } from '../../http/replies/send-json.ts';
import { streamRun } from '../../http/replies/stream-run.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { listResponsesBases } from '../openapi.ts';
import { toBytes } from '../response-reply.ts';
import { createUnknownItemError, PageCollector, readInclude, readItemQuery, toItemList, toList } from './stored-pages.ts';

export interface StoredRoutesDeps extends Pick<SurfaceDeps, 'identify' | 'clock'> {
  readonly responses: ResponseStore;
  readonly runs: BackgroundRuns;
  /** Called after a user ended a response, to notify another node that may run it. */
  readonly notifyEnded: (id: string) => void;
  /** Prefixes such as `openai`. */
  readonly aliases: readonly string[];
  /**
   * Responses that clients of this node already know but that may not be stored yet, by ID. Each promise resolves when the
   * response is stored.
   */
  readonly startingWrites: ReadonlyMap<string, Promise<unknown>>;
  /** Returns whether the caller's key is no longer valid or the user is blocked. */
  readonly hasLostAccess: (caller: Caller) => boolean;
}

/** Maximum size of a chain of responses whose items are listed. A request may have this size too. */
const maxChainBytes = 256 * 1024 ** 2;
/** Maximum size of the responses of a chain that are in memory at the same time. */
const maxBatchBytes = 4 * 1024 ** 2;

/**
 * Registers `/v1/responses/{response}` and the routes below it, also under each alias (docs/responses.md, Stored responses), and
 * `/v1/user/responses`.
 */
export function storedRoutes(app: FastifyInstance, deps: StoredRoutesDeps): void {
  const replies = new LargeReplies();
  for (const { base } of listResponsesBases(deps.aliases)) {
    const url = `${base}/responses/:response`;
    app.get(url, async (request, reply) => {
      const { ref, caller } = await identifyRequest(deps, request);
      const query = request.query as Query;
      const after = readInteger(query, 'starting_after');
      const isStreamed = readFlag(query, 'stream');
      if (after !== undefined && !isStreamed) throw createRequestError('starting_after', 'requires stream=true');
      if (!isStreamed)
        return replies.send(ref.subject, reply, async () => toVisibleResponse(await find(deps, ref), readInclude(query)));
      if (!(await find(deps, ref)).isBackground) throw createRequestError('stream', 'is supported only for background responses');
      reply.hijack();
      const hasLostAccess = () => deps.hasLostAccess(caller);
      const headers = { 'x-request-id': request.id };
      await streamRun(deps, reply.raw, { ref, after: after ?? -1, headers, hasLostAccess, toBytes });
      return reply;
    });
    serveEarly(app, { method: 'DELETE', url }, async (request) => {
      const ref = await resolveRef(deps, request);
      const isDeleted = await deps.responses.delete(ref);
      if (!isDeleted) throw createNotStoredError('response', ref.id);
      deps.runs.drop(ref.id);
      deps.notifyEnded(ref.id);
      return { id: ref.id, object: 'response', deleted: true };
    });
    serveEarly(app, { method: 'POST', url: `${url}/cancel` }, (request) => cancel(deps, request));
    app.get(`${url}/input_items`, async (request, reply) => {
      const ref = await resolveRef(deps, request);
      return replies.send(ref.subject, reply, () => listInput(deps, ref, request.query as Query));
    });
  }
  app.get('/v1/user/responses', (request) => listBackground(deps, request));
}

async function cancel(deps: StoredRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const ref = await resolveRef(deps, request);
  const stored = await find(deps, ref);
  if (!stored.isBackground)
    throw createRequestError('response_id', 'is not a background response. To cancel it, close its connection');
  // Cancels a run on this node first, so that the store contains all of its events.
  await deps.runs.cancel(ref.id);
  const canceled = await deps.responses.cancel(ref);
  if (canceled === undefined) throw createNotStoredError('response', ref.id);
  deps.notifyEnded(ref.id);
  return canceled.response;
}

async function listInput(deps: StoredRoutesDeps, ref: ResponseRef, query: Query) {
  const itemQuery = readItemQuery(query);
  const include = readInclude(query);
  const page = new PageCollector(itemQuery);
  for await (const items of readInput(deps, ref, itemQuery.order)) {
    for (const item of items) if (isVisibleItem(item, include)) page.add(item);
    if (page.isComplete) break;
  }
  return toItemList(page.end(), include);
}

/** Reads the input items of a response and its chain in batches, because the chain can be larger than the memory. */
async function* readInput({ responses, clock }: StoredRoutesDeps, ref: ResponseRef, order: ItemQuery['order']) {
  const links = await responses.listChain(ref, { nowMs: clock.epochMs(), maxBytes: maxChainBytes });
  if (links.length === 0) throw createNotStoredError('response', ref.id);
  for (const batch of splitBySize(order === 'asc' ? links : links.toReversed())) {
    // Responses that a later one continues are stored after they expire.
    const chain = await Promise.all(batch.map(({ id }) => responses.find({ ...ref, id }, 0)));
    for (const stored of chain) {
      const items = stored === undefined ? [] : stored.id === ref.id ? stored.input : listItems(stored);
      yield order === 'asc' ? items : items.toReversed();
    }
  }
}

/** Splits a chain into batches of up to `maxBatchBytes` and 50 responses. A batch of a single response may be larger. */
function* splitBySize(links: readonly ChainLink[]): Generator<readonly ChainLink[]> {
  for (let from = 0; from < links.length; ) {
    const count = countPageItems(links.slice(from), { limit: 50, maxBytes: maxBatchBytes });
    yield links.slice(from, from + count);
    from += count;
  }
}

async function listBackground(deps: StoredRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { responses, clock } = deps;
  const caller = await identifyUser(deps, request, 'list responses');
  const { limit: rawLimit, after: rawAfter } = request.query as Query;
  const { limit, after } = readItemQuery({ limit: rawLimit, after: rawAfter });
  const query = { limit, maxBytes: maxListedBytes, after, nowMs: clock.epochMs() };
  const page = await responses.listBackground(caller.subject, query);
  if (page === undefined) throw createUnknownItemError('after');
  return toList(page.responses.map(toSummary), page.hasMore);
}

async function find({ responses, clock }: StoredRoutesDeps, ref: ResponseRef): Promise<StoredResponse> {
  const stored = await responses.find(ref, clock.epochMs());
  if (stored === undefined) throw createNotStoredError('response', ref.id);
  return stored;
}

async function resolveRef(deps: StoredRoutesDeps, request: FastifyRequest): Promise<ResponseRef> {
  return (await identifyRequest(deps, request)).ref;
}

/** Returns the requested response and the caller, after a response that was just created is stored. */
async function identifyRequest(
  deps: StoredRoutesDeps,
  request: FastifyRequest,
): Promise<{ readonly ref: ResponseRef; readonly caller: Caller }> {
  const caller = await identifyCaller(deps, request, 'accepts bound keys');
  rejectPerRequestKey(caller, 'use stored responses');
  const { response: id } = request.params as { response: string };
  if (!mayUseRecord(caller, id) || isChatRunId(id)) throw createNotStoredError('response', id);
  await deps.startingWrites.get(id);
  return { ref: { id, subject: caller.subject }, caller };
}

/** Returns the error for an object that does not exist or belongs to another user. */
export function createNotStoredError(kind: 'response' | 'conversation' | 'item', id: string): ParleyError {
  return new ParleyError('response_not_found', `You have no stored ${kind} with the ID ${JSON.stringify(id.slice(0, 100))}.`);
}

/** Maximum size of the responses that are read for a list of background responses. */
const maxListedBytes = 8 * 1024 ** 2;
/** Maximum number of characters of a user message in a list. */
const maxDisplayedChars = 200;

/** Returns the list entry of a response. */
function toSummary({ id, status, response, input }: StoredResponse): JsonObject {
  const { object, created_at, completed_at = null, model, background, error = null } = response;
  return { id, object, status, created_at, completed_at, model, background, error, asked: getQuestion(input) };
}

/** Returns the start of the last user message, or null if the request contains none. */
function getQuestion(input: readonly JsonObject[]): string | null {
  const userMessage = input.findLast(({ type = 'message', role }) => type === 'message' && role === 'user');
  if (userMessage === undefined) return null;
  const parts = Array.isArray(userMessage.content) ? userMessage.content.filter(isJsonObject) : [{ text: userMessage.content }];
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === 'string');
  const text = texts.join(' ').replace(/\s+/g, ' ').trim();
  return [...text].slice(0, maxDisplayedChars).join('');
}
