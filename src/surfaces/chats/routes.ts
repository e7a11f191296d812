import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { chatIdForm } from '#contract/chat-patch.ts';
import { ParleyError } from '#contract/errors.ts';
import { storedEntries } from '#contract/stored-entries.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import type { ChatListPage, ChatPlace, ChatStore } from '#domain/chats/chat-store.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { preconditionFailed, type WriteCondition } from '#domain/files/write-condition.ts';
import { routeNotFound } from '../http/answer-methods.ts';
import { hasCondition, toWriteCondition } from '../http/conditions.ts';
import { leavingSignal } from '../http/leaving-signal.ts';
import { readCredentials, readJsonBody, refuseLargeBody, requireJson } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-early.ts';
import { toChatChange, toShownChat, toShownHead } from './chat-change.ts';
import { type Query, readExcerpts, readLimit, readListQuery, readSince, readWords, toToken } from './chat-query.ts';

export interface ChatRoutesDeps {
  readonly chats: ChatStore;
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

const mebibyte = 1024 ** 2;
const bounds = { maxBytesPerChat: 32 * mebibyte, maxBytesPerUser: 10 * 1024 * mebibyte };

/** `/v1/chats`, `/v1/chats/{chat}` and `/v1/chat-changes`: the conversations of the page, as trees of turns (docs/wire.md, Chats). */
export function chatRoutes(app: FastifyInstance, deps: ChatRoutesDeps): void {
  const url = '/v1/chats/:chat';
  app.get('/v1/chats', (request, reply) => list(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url: '/v1/chats' }, (request, reply) => removeAll(deps, request, reply));
  app.get('/v1/chat-changes', (request) => tellChanges(deps, request));
  app.get(url, (request, reply) => get(deps, request, reply));
  serveEarly(app, { method: 'POST', url }, (request, reply) => write(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, request, reply));
}

async function list(deps: ChatRoutesDeps, request: FastifyRequest, { raw }: FastifyReply): Promise<JsonObject> {
  const subject = await subjectOf(deps, request);
  const query = request.query as Query;
  const asked = readListQuery(query);
  const words = readWords(query);
  const excerpts = readExcerpts(query);
  // In this order: what changes between the two is told to those who follow from here.
  const revision = await deps.chats.revision(subject);
  const page = await (words === undefined
    ? deps.chats.list(subject, asked)
    : deps.chats.search(subject, { ...asked, words, excerpts, signal: leavingSignal(raw) }));
  return { ...toShownPage(page), revision };
}

function toShownPage({ heads, next, excerpts }: ChatListPage): JsonObject {
  const data = heads.map((head) => {
    const excerpt = excerpts?.get(head.id);
    return { ...toShownHead(head), ...(excerpt !== undefined && { excerpt }) };
  });
  return { object: 'list', data, nextToken: next === undefined ? null : toToken(next) };
}

async function tellChanges(deps: ChatRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const subject = await subjectOf(deps, request);
  const query = request.query as Query;
  const since = readSince(query);
  const { changes, revision, hasMore, isGap } = await deps.chats.changes(subject, since, readLimit(query));
  return { object: 'list', data: changes.map(toShownHead), revision, hasMore, reset: isGap };
}

async function get(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const subject = await subjectOf(deps, request);
  const since = readSince(request.query as Query);
  const found = await deps.chats.read(placeOf(request, subject), since);
  if (found === undefined) throw notThere();
  reply.header('etag', `"${found.head.revision}"`);
  return toShownChat(found);
}

async function write(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const maxBytes = Math.min(storedEntries.chat.maxBytes, deps.snapshot().configuration.security.maxBodyBytes);
  refuseLargeBody(request.raw, maxBytes);
  const subject = await subjectOf(deps, request);
  requireJson(request.raw);
  const body = await readJsonBody(request.raw, maxBytes);
  const place = placeOf(request, subject);
  const change = toChatChange(body(), deps.clock.epochMs());
  const condition = await conditionOf(deps, request, place);
  const written = await deps.chats.write(place, change, { ...bounds, condition });
  if (written.outcome === 'condition_failed') throw preconditionFailed();
  if (written.outcome !== 'written') throw full(written.outcome);
  reply.header('etag', `"${written.head.revision}"`);
  return toShownHead(written.head);
}

async function remove(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const subject = await subjectOf(deps, request);
  const place = placeOf(request, subject);
  const condition = await conditionOf(deps, request, place);
  const outcome = await deps.chats.delete(place, condition, deps.clock.epochMs());
  if (outcome === 'condition_failed') throw preconditionFailed();
  if (outcome === 'absent') throw notThere();
  reply.code(204);
}

async function removeAll(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await deps.chats.deleteAll(await subjectOf(deps, request));
  reply.code(204);
}

/** Whose chats they are. An application has none, and does not reach those of the user it answers. */
export async function subjectOf(
  { identify, snapshot }: Pick<ChatRoutesDeps, 'identify' | 'snapshot'>,
  { raw }: FastifyRequest,
): Promise<string> {
  const caller = await identify(readCredentials(raw), raw);
  requireOwn(caller, 'read or write chats');
  if (snapshot().configuration.page.conversations === 'browser') throw routeNotFound();
  return caller.subject;
}

async function conditionOf({ chats }: ChatRoutesDeps, { headers }: FastifyRequest, place: ChatPlace): Promise<WriteCondition> {
  if (!hasCondition(headers)) return undefined;
  const there = await chats.read(place, Number.MAX_SAFE_INTEGER);
  return toWriteCondition(headers, there && { etag: String(there.head.revision) });
}

/** The chat of a path. Throws `response_not_found` for what is no id of one. */
export function placeOf({ params }: FastifyRequest, subject: string): ChatPlace {
  const { chat: id } = params as { chat: string };
  if (!chatIdForm.test(id)) throw notThere();
  return { subject, id };
}

/** There is no such chat. */
export function notThere(): ParleyError {
  return new ParleyError(
    'response_not_found',
    'You have no chat of this id; its letters are A-Z, a-z, 0-9, _ and -, at most 64.',
  );
}

function full(outcome: 'chat_full' | 'user_full'): ParleyError {
  const what =
    outcome === 'chat_full'
      ? `The chat would take more than the ${bounds.maxBytesPerChat} bytes that one may; begin another.`
      : `Your chats take all of the ${bounds.maxBytesPerUser} bytes that may be stored for you; delete some of them.`;
  return new ParleyError('payload_too_large', what);
}
