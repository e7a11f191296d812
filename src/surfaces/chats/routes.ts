import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { ChatPatch, chatFlags, chatHeadFields, chatIdPattern } from '#contract/page/stored-chat.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { withoutNulls } from '#contract/schemas/normalize-request.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type {
  ChatChange,
  ChatCursor,
  ChatHead,
  ChatListPage,
  ChatListQuery,
  ChatRef,
  ChatStore,
  DeletedChat,
  StoredChat,
} from '#domain/chats/chat-store.ts';
import { createPreconditionError, type WriteCondition } from '#domain/files/write-condition.ts';
import { hasCondition, toWriteCondition } from '../http/conditions.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { type Query, readFlag, readInteger, readLimit, readText } from '../http/query.ts';
import { createDisconnectSignal, identifyUser, readRequest, type SurfaceDeps } from '../http/read-request.ts';
import { LargeReplies } from '../http/replies/send-json.ts';
import { serveEarly } from '../http/serve-raw.ts';

export interface ChatRoutesDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot' | 'clock'> {
  readonly chats: ChatStore;
}

const mebibyte = 1024 ** 2;
const bounds = { maxBytesPerChat: 32 * mebibyte, maxBytesPerUser: 10 * 1024 * mebibyte };

/**
 * Serves `/v1/chats`, `/v1/chats/{chat}`, and `/v1/chat-changes`: the conversations of the page, as trees of turns (docs/wire.md,
 * Chats).
 */
export function chatRoutes(app: FastifyInstance, deps: ChatRoutesDeps): void {
  const url = '/v1/chats/:chat';
  app.get('/v1/chats', (request, reply) => list(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url: '/v1/chats' }, (request, reply) => removeAll(deps, request, reply));
  app.get('/v1/chat-changes', (request) => listChanges(deps, request));
  const replies = new LargeReplies();
  app.get(url, (request, reply) => get(deps, replies, request, reply));
  serveEarly(app, { method: 'POST', url }, (request, reply) => write(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, request, reply));
}

async function list(deps: ChatRoutesDeps, request: FastifyRequest, { raw }: FastifyReply): Promise<JsonObject> {
  const subject = await identifySubject(deps, request);
  const query = request.query as Query;
  const listQuery = readListQuery(query);
  const searchWords = readWords(query);
  const excerpts = readFlag(query, 'excerpts');
  // Reads the revision before the list, so that a client that follows changes from this revision misses no change in between.
  const revision = await deps.chats.readRevision(subject);
  const page = await (searchWords === undefined
    ? deps.chats.list(subject, listQuery)
    : deps.chats.search(subject, { ...listQuery, words: searchWords, excerpts, signal: createDisconnectSignal(raw) }));
  return { ...toPage(page), revision };
}

function toPage({ chats: heads, next, excerpts }: ChatListPage): JsonObject {
  const data = heads.map((head) => {
    const excerpt = excerpts?.get(head.id);
    return { ...toHeadItem(head), ...(excerpt !== undefined && { excerpt }) };
  });
  return { object: 'list', data, nextToken: next === undefined ? null : toToken(next) };
}

async function listChanges(deps: ChatRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const subject = await identifySubject(deps, request);
  const query = request.query as Query;
  const since = readInteger(query, 'since') ?? 0;
  const { changes, revision, hasMore, isGap } = await deps.chats.readChanges(subject, since, readLimit(query, pageLimit));
  return { object: 'list', data: changes.map(toHeadItem), revision, hasMore, reset: isGap };
}

async function get(
  deps: ChatRoutesDeps,
  replies: LargeReplies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const subject = await identifySubject(deps, request);
  const since = readInteger(request.query as Query, 'since') ?? 0;
  return replies.send(subject, reply, async () => {
    const { head, extra, turns } = await readStoredChat(deps, readChatRef(request, subject), since);
    reply.header('etag', `"${head.revision}"`);
    return { ...extra, ...toHeadItem(head), turns };
  });
}

async function write(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const maxBytes = Math.min(storedEntries.chat.maxBytes, deps.snapshot().configuration.security.maxBodyBytes);
  const { caller: subject, body } = await readRequest(request, { maxBytes }, () => identifySubject(deps, request));
  const chat = readChatRef(request, subject);
  const change = toChatChange(body(), deps.clock.epochMs());
  const condition = await readCondition(deps, request, chat);
  const result = await deps.chats.write(chat, change, { ...bounds, condition });
  if (result.outcome === 'condition_failed') throw createPreconditionError();
  if (result.outcome !== 'written') throw storageFull(result.outcome);
  reply.header('etag', `"${result.head.revision}"`);
  return toHeadItem(result.head);
}

async function remove(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const subject = await identifySubject(deps, request);
  const chat = readChatRef(request, subject);
  const condition = await readCondition(deps, request, chat);
  const outcome = await deps.chats.delete(chat, condition, deps.clock.epochMs());
  if (outcome === 'condition_failed') throw createPreconditionError();
  if (outcome === 'absent') throw chatNotFound();
  reply.code(204);
}

async function removeAll(deps: ChatRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await deps.chats.deleteAll(await identifySubject(deps, request));
  reply.code(204);
}

/**
 * Returns the subject that owns the chats. Throws `access_denied` for per-request keys: an application may not read its user's
 * chats. Throws `route_not_found` if chats are stored in the browser.
 */
export async function identifySubject(
  deps: Pick<ChatRoutesDeps, 'identify' | 'snapshot'>,
  request: FastifyRequest,
): Promise<string> {
  const caller = await identifyUser(deps, request, 'read or write chats');
  if (deps.snapshot().configuration.page.conversations === 'browser') throw routeNotFound();
  return caller.subject;
}

async function readCondition({ chats }: ChatRoutesDeps, { headers }: FastifyRequest, chat: ChatRef): Promise<WriteCondition> {
  if (!hasCondition(headers)) return undefined;
  const current = await chats.readChat(chat, Number.MAX_SAFE_INTEGER);
  return toWriteCondition(headers, current && { etag: String(current.head.revision) });
}

/** Returns the chat that the path names. Throws `response_not_found` for an invalid ID. */
export function readChatRef({ params }: FastifyRequest, subject: string): ChatRef {
  const { chat: id } = params as { chat: string };
  if (!chatIdPattern.test(id)) throw chatNotFound();
  return { subject, id };
}

/** Returns a chat with the turns after a revision. Throws `response_not_found`. */
export async function readStoredChat({ chats }: ChatRoutesDeps, ref: ChatRef, since: number): Promise<StoredChat> {
  const chat = await chats.readChat(ref, since);
  if (chat === undefined) throw chatNotFound();
  return chat;
}

function chatNotFound(): ParleyError {
  return new ParleyError(
    'response_not_found',
    'You have no chat with this ID. An ID has at most 64 of the characters A-Z, a-z, 0-9, _, and -.',
  );
}

function storageFull(outcome: 'chat_full' | 'user_full'): ParleyError {
  const message =
    outcome === 'chat_full'
      ? `A chat may have at most ${bounds.maxBytesPerChat} bytes. Start a new chat.`
      : `Your chats use all of your ${bounds.maxBytesPerUser} bytes. Delete some chats.`;
  return new ParleyError('payload_too_large', message);
}

const checkPatch = createCheck(ChatPatch);
const serverFields = new Set(['id', 'revision', 'updatedAtMs', 'turns', ...Object.keys(chatFlags)]);
const maxExtraChars = 1024 ** 2;

/** Returns the change in a body. `nowMs` is the default and the upper bound of its `updatedAtMs`. Throws `invalid_request`. */
function toChatChange(body: unknown, nowMs: number): ChatChange {
  const input = isJsonObject(body) ? withoutNulls(body, new Set(Object.keys(body))) : body;
  const { updatedAtMs = nowMs, pinned, archived, turns = [], ...extraFields } = checkPatch(input);
  const fields: JsonObject = {};
  const extra: JsonObject = {};
  for (const [key, value] of Object.entries(extraFields)) {
    if (!serverFields.has(key)) (Object.hasOwn(chatHeadFields, key) ? fields : extra)[key] = value;
  }
  if (JSON.stringify(extra).length > maxExtraChars)
    throw createRequestError('body', `is too large: its fields other than turns may have at most ${maxExtraChars} characters`);
  return {
    updatedAtMs: Math.min(updatedAtMs, nowMs),
    ...(pinned !== undefined && { pinned }),
    ...(archived !== undefined && { archived }),
    ...{ fields, extra, turns },
  };
}

/** Returns the fields of a chat that lists contain. */
function toHeadItem(head: ChatHead | DeletedChat): JsonObject {
  if ('deleted' in head) return { ...head };
  const { fields, ...metadata } = head;
  return { ...fields, ...metadata };
}

const pageLimit = { max: 500, fallback: 100 };
const maxWords = 20;
const maxQueryChars = 500;

/** Returns the parameters of a list. Throws `invalid_request` with the name of the parameter. */
function readListQuery(query: Query): ChatListQuery {
  return { limit: readLimit(query, pageLimit), archived: readFlag(query, 'archived'), after: readToken(query.token) };
}

/** Returns the distinct search words in lower case, or undefined if the request has no search. Throws `invalid_request`. */
function readWords(query: Query): readonly string[] | undefined {
  const text = readText(query, 'query');
  if (text === undefined) return undefined;
  if (text.length > maxQueryChars) throw createRequestError('query', `must have at most ${maxQueryChars} characters`);
  const searchWords = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))];
  if (searchWords.length > maxWords) throw createRequestError('query', `must have at most ${maxWords} words`);
  return searchWords.length === 0 ? undefined : searchWords;
}

function toToken({ shelf, updatedAtMs, id }: ChatCursor): string {
  return Buffer.from(JSON.stringify([shelf, updatedAtMs, id])).toString('base64url');
}

function readToken(token: unknown): ChatCursor | undefined {
  if (token === undefined || token === '') return undefined;
  const value = typeof token === 'string' ? tryParseJson(Buffer.from(token, 'base64url').toString()) : undefined;
  const [shelf, updatedAtMs, id] = Array.isArray(value) ? value : [];
  if (Number.isSafeInteger(shelf) && Number.isSafeInteger(updatedAtMs) && typeof id === 'string' && !id.includes('\0'))
    return { shelf, updatedAtMs, id };
  throw createRequestError('token', 'must be the nextToken of the previous page');
}
