import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { parseItems } from '#contract/responses/input-items.ts';
import { readMetadata } from '#contract/responses/responses-request.ts';
import { mayUseRecord, toRecordId } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import type { ConversationRef, ConversationStore, ItemQuery, StoredConversation } from '#domain/responses/conversation-store.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import { isVisibleItem, toStoredItem, toVisibleItem } from '#domain/responses/stored-items.ts';
import type { InputMemory } from '#services/node/input-memory.ts';
import { createStorageFullError } from '#services/responses/database-response-storage.ts';
import type { Query } from '../../http/query.ts';
import { identifyCaller, readJson, rejectLargeBody, type SurfaceDeps } from '../../http/read-request.ts';
import { LargeReplies } from '../../http/replies/send-json.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { createUnknownItemError, readInclude, readItemQuery, toItemList } from './stored-pages.ts';
import { createNotStoredError } from './stored-routes.ts';

export interface ConversationRoutesDeps extends Pick<SurfaceDeps, 'identify' | 'snapshot' | 'clock'> {
  readonly conversations: ConversationStore;
  readonly responses: ResponseStore;
  readonly newId: () => string;
  readonly inputMemory: InputMemory;
  /** Prefixes such as `openai`. */
  readonly aliases: readonly string[];
}

/** Maximum number of items that one request may add. */
const maxItems = 20;
/** Conversation IDs start with `conv_`, which distinguishes them from buckets in the same position. */
const conversationParam = ':conversation(^conv_[^/]+$)';

/** Registers `/v1/conversations` and the routes below it, also under each alias (docs/responses.md, Conversations). */
export function conversationRoutes(app: FastifyInstance, deps: ConversationRoutesDeps): void {
  const replies = new LargeReplies();
  for (const alias of ['', ...deps.aliases.map((name) => `/${name}`)]) {
    const base = `${alias}/v1/conversations`;
    serveEarly(app, { method: 'POST', url: base }, (_request, reply) => create(deps, reply));
    const url = `${base}/:conversation`;
    app.get(url, async (request) => toConversationObject(await find(deps, request)));
    serveEarly(app, { method: 'POST', url }, (_request, reply) => update(deps, reply));
    serveEarly(app, { method: 'DELETE', url }, (request) => remove(deps, request));
    const items = `${base}/${alias === '' ? conversationParam : ':conversation'}/items`;
    app.get(items, async (request, reply) => {
      const ref = await resolveRef(deps, request);
      return replies.send(ref.subject, reply, () => listItems(deps, ref, request.query as Query));
    });
    serveEarly(app, { method: 'POST', url: items }, (_request, reply) => addItems(deps, reply));
    app.get(`${items}/:item`, async (request, reply) => {
      const { item, ...ref } = await resolveRef(deps, request);
      return replies.send(ref.subject, reply, () => getItem(deps, ref, item, request.query as Query));
    });
    serveEarly(app, { method: 'DELETE', url: `${items}/:item` }, (request) => removeItem(deps, request));
  }
}

async function create(deps: ConversationRoutesDeps, reply: FastifyReply): Promise<unknown> {
  const { caller, body } = await readObjectBody(deps, reply, { mayBeEmpty: true });
  requireStorageEnabled(deps);
  const items = toItems(deps, body.items ?? []);
  const metadata = readMetadata(body.metadata) ?? {};
  await requireFreeStorage(deps, caller);
  const id = toRecordId('conv', caller, deps.newId());
  const conversation = { id, subject: caller.subject, createdAtMs: deps.clock.epochMs(), metadata };
  const existingId = await deps.conversations.add(conversation, items);
  if (existingId !== undefined) throw createIdTakenError(existingId);
  return toConversationObject(conversation);
}

async function update(deps: ConversationRoutesDeps, reply: FastifyReply): Promise<unknown> {
  const { caller, body } = await readObjectBody(deps, reply);
  requireStorageEnabled(deps);
  const metadata = readMetadata(body.metadata);
  const ref = { ...getParams(reply.request), subject: caller.subject };
  const changed = await (metadata === undefined ? deps.conversations.find(ref) : deps.conversations.setMetadata(ref, metadata));
  if (changed === undefined) throw createNotStoredError('conversation', ref.id);
  return toConversationObject(changed);
}

async function remove(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const ref = await resolveRef(deps, request);
  if (!(await deps.conversations.delete(ref))) throw createNotStoredError('conversation', ref.id);
  return { id: ref.id, object: 'conversation.deleted', deleted: true };
}

async function listItems(deps: ConversationRoutesDeps, ref: Awaited<ReturnType<typeof resolveRef>>, query: Query) {
  const include = readInclude(query);
  for (let itemQuery = readItemQuery(query); ; ) {
    const page = await deps.conversations.readPage(ref, itemQuery);
    if (page === undefined) throw createNotStoredError('conversation', ref.id);
    if ('unknown' in page) throw createUnknownItemError(page.unknown);
    const items = page.items.filter((item) => isVisibleItem(item, include));
    // Clients interpret an empty page as the end.
    if (items.length > 0 || !page.hasMore) return toItemList({ ...page, items }, include);
    itemQuery = toNextQuery(itemQuery, page.items);
  }
}

/** Returns the query for the next page. A query with only `before` pages backward, so it continues before the first item. */
function toNextQuery(itemQuery: ItemQuery, items: readonly JsonObject[]): ItemQuery {
  const isBackward = itemQuery.before !== undefined && itemQuery.after === undefined;
  return isBackward ? { ...itemQuery, before: String(items[0]?.id) } : { ...itemQuery, after: String(items.at(-1)?.id) };
}

async function addItems(deps: ConversationRoutesDeps, reply: FastifyReply): Promise<unknown> {
  const { caller, body } = await readObjectBody(deps, reply);
  requireStorageEnabled(deps);
  if (body.items === undefined) throw createRequestError('items', 'is required');
  const items = toItems(deps, body.items);
  await requireFreeStorage(deps, caller);
  const ref = { ...getParams(reply.request), subject: caller.subject };
  const added = await deps.conversations.append(ref, items);
  if (added === undefined) throw createNotStoredError('conversation', ref.id);
  if (added.existingId !== undefined) throw createIdTakenError(added.existingId);
  return toItemList({ items, hasMore: false }, readInclude(reply.request.query as Query));
}

async function getItem({ conversations }: ConversationRoutesDeps, ref: ConversationRef, id: string, query: Query) {
  const item = await conversations.findItem(ref, id);
  const include = readInclude(query);
  if (item === undefined || !isVisibleItem(item, include)) throw createNotStoredError('item', id);
  return toVisibleItem(item, include);
}

async function removeItem(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { item, ...ref } = await resolveRef(deps, request);
  const conversation = await deps.conversations.find(ref);
  if (conversation === undefined) throw createNotStoredError('conversation', ref.id);
  if (!(await deps.conversations.deleteItem(ref, item))) throw createNotStoredError('item', item);
  return toConversationObject(conversation);
}

async function find(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<StoredConversation> {
  const ref = await resolveRef(deps, request);
  const stored = await deps.conversations.find(ref);
  if (stored === undefined) throw createNotStoredError('conversation', ref.id);
  return stored;
}

async function readObjectBody(
  deps: ConversationRoutesDeps,
  reply: FastifyReply,
  { mayBeEmpty = false }: { mayBeEmpty?: boolean } = {},
): Promise<{ caller: Caller; body: JsonObject }> {
  const { request } = reply;
  const { raw } = request;
  const { maxBodyBytes } = deps.snapshot().configuration.security;
  rejectLargeBody(raw, maxBodyBytes);
  const caller = await identifyForConversation(deps, request);
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (mayBeEmpty && (length ?? '0') === '0' && encoding === undefined) return { caller, body: {} };
  // The response of a request can contain its items, so the memory is in use until the client has read the response.
  const heldMemory = new DisposableStack();
  reply.raw.once('close', () => heldMemory.dispose());
  const onLargeBody = (bytes: number): void => heldMemory.defer(deps.inputMemory.hold(caller, bytes));
  const body = (await readJson(request, { maxBytes: maxBodyBytes, onLargeBody })) ?? {};
  if (!isJsonObject(body)) throw createRequestError('body', 'must be an object');
  return { caller, body };
}

function toItems({ newId }: ConversationRoutesDeps, input: unknown): readonly JsonObject[] {
  if (!Array.isArray(input)) throw createRequestError('items', 'must be an array');
  if (input.length > maxItems) throw createRequestError('items', `must have at most ${maxItems} items`);
  return parseItems(input, 'items').map((item, index) => {
    if (item.type === 'item_reference')
      throw createRequestError(`items[${index}].type`, 'must not be item_reference. Send the item itself');
    return toStoredItem(item as JsonObject, newId);
  });
}

function requireStorageEnabled({ snapshot }: ConversationRoutesDeps): void {
  if (snapshot().configuration.responses.store === 'never')
    throw createRequestError('conversation', 'cannot be created or extended, because storing responses is disabled');
}

async function requireFreeStorage({ responses, snapshot }: ConversationRoutesDeps, { subject }: Caller): Promise<void> {
  const { maxBytesPerUser } = snapshot().configuration.responses;
  if ((await responses.deleteOldest(subject, maxBytesPerUser)) > maxBytesPerUser) throw createStorageFullError(maxBytesPerUser);
}

function createIdTakenError(id: string) {
  return createRequestError(
    'items',
    `contains the ID ${JSON.stringify(id.slice(0, 100))}, which another item of the conversation already has`,
  );
}

/** Returns the conversation and the item in the path, with the caller's subject. Throws unless the caller may use them. */
async function resolveRef(deps: ConversationRoutesDeps, request: FastifyRequest) {
  const { subject } = await identifyForConversation(deps, request);
  return { ...getParams(request), subject };
}

/**
 * Returns the caller. Rejects applications, which may not use conversations of their user. A conversation that a bound key may
 * not use is reported as missing.
 */
async function identifyForConversation(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<Caller> {
  const caller = await identifyCaller(deps, request, 'accepts bound keys');
  rejectPerRequestKey(caller, 'use conversations');
  const { conversation } = request.params as { conversation?: string };
  if (conversation !== undefined && !mayUseRecord(caller, conversation)) throw createNotStoredError('conversation', conversation);
  return caller;
}

function getParams({ params }: FastifyRequest): { id: string; item: string } {
  const { conversation, item = '' } = params as { conversation: string; item?: string };
  return { id: conversation, item };
}

function toConversationObject({ id, createdAtMs, metadata }: StoredConversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata };
}
