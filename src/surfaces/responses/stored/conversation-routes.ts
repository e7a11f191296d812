import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { requestFault } from '#contract/errors/request-error.ts';
import { parseItems } from '#contract/responses/parse-items.ts';
import { readMetadata } from '#contract/responses/responses-request.ts';
import { mayUseRecord, toRecordId } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { requireOwn } from '#domain/callers/require-own.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { ConversationStore, ItemQuery, StoredConversation } from '#domain/responses/conversation-store.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import { isShownItem, toShownItem, toStoredItem } from '#domain/responses/stored-items.ts';
import { conversationsFull } from '#services/responses/stored-keeper.ts';
import { readCredentials, readJsonBody, refuseLargeBody, requireJson } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { type Query, readInclude, readItemQuery, toItemList, unknownItem } from './stored-pages.ts';
import { notStored } from './stored-routes.ts';

export interface ConversationRoutesDeps {
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
  readonly conversations: ConversationStore;
  readonly responses: ResponseStore;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Prefixes such as `openai`. */
  readonly aliases: readonly string[];
}

/** What one request may add. */
const mostItems = 20;
/** Where buckets stand at the same place, ids tell what is meant. */
const ofConversations = ':conversation(^conv_[^/]+$)';

/** `/v1/conversations` and what is below it, also below each alias (docs/responses.md, Conversations). */
export function conversationRoutes(app: FastifyInstance, deps: ConversationRoutesDeps): void {
  for (const alias of ['', ...deps.aliases.map((each) => `/${each}`)]) {
    const base = `${alias}/v1/conversations`;
    serveEarly(app, { method: 'POST', url: base }, (request) => create(deps, request));
    const url = `${base}/:conversation`;
    app.get(url, async (request) => toShown(await find(deps, request)));
    serveEarly(app, { method: 'POST', url }, (request) => update(deps, request));
    serveEarly(app, { method: 'DELETE', url }, (request) => remove(deps, request));
    const items = `${base}/${alias === '' ? ofConversations : ':conversation'}/items`;
    app.get(items, (request) => listItems(deps, request));
    serveEarly(app, { method: 'POST', url: items }, (request) => addItems(deps, request));
    app.get(`${items}/:item`, (request) => getItem(deps, request));
    serveEarly(app, { method: 'DELETE', url: `${items}/:item` }, (request) => removeItem(deps, request));
  }
}

async function create(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { caller, body } = await readBody(deps, request, { mayBeEmpty: true });
  requireStoring(deps);
  const items = toItems(deps, body.items ?? []);
  const metadata = readMetadata(body.metadata) ?? {};
  await requireRoom(deps, caller);
  const id = toRecordId('conv', caller, deps.newId());
  const conversation = { id, subject: caller.subject, createdAtMs: deps.clock.epochMs(), metadata };
  const taken = await deps.conversations.add(conversation, items);
  if (taken !== undefined) throw idTaken(taken);
  return toShown(conversation);
}

async function update(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { caller, body } = await readBody(deps, request);
  requireStoring(deps);
  const metadata = readMetadata(body.metadata);
  const place = { ...placeOf(request), subject: caller.subject };
  const changed = await (metadata === undefined
    ? deps.conversations.find(place)
    : deps.conversations.setMetadata(place, metadata));
  if (changed === undefined) throw notStored('conversation', place.id);
  return toShown(changed);
}

async function remove(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const place = { ...placeOf(request), subject: (await callerOf(deps, request)).subject };
  if (!(await deps.conversations.delete(place))) throw notStored('conversation', place.id);
  return { id: place.id, object: 'conversation.deleted', deleted: true };
}

async function listItems(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const query = request.query as Query;
  const place = { ...placeOf(request), subject: (await callerOf(deps, request)).subject };
  const include = readInclude(query);
  for (let asked = readItemQuery(query); ; ) {
    const page = await deps.conversations.page(place, asked);
    if (page === undefined) throw notStored('conversation', place.id);
    if ('unknown' in page) throw unknownItem(page.unknown);
    const items = page.items.filter((item) => isShownItem(item, include));
    // Clients take an empty page for the end.
    if (items.length > 0 || !page.hasMore) return toItemList({ ...page, items }, include);
    asked = toNextQuery(asked, page.items);
  }
}

/** Returns the query for the page after these items. Items before another one are listed towards the start. */
function toNextQuery(asked: ItemQuery, items: readonly JsonObject[]): ItemQuery {
  const isBackward = asked.before !== undefined && asked.after === undefined;
  return isBackward ? { ...asked, before: String(items[0]?.id) } : { ...asked, after: String(items.at(-1)?.id) };
}

async function addItems(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { caller, body } = await readBody(deps, request);
  requireStoring(deps);
  if (body.items === undefined) throw requestFault('items', 'is required');
  const items = toItems(deps, body.items);
  await requireRoom(deps, caller);
  const place = { ...placeOf(request), subject: caller.subject };
  const added = await deps.conversations.append(place, items);
  if (added === undefined) throw notStored('conversation', place.id);
  if (added.taken !== undefined) throw idTaken(added.taken);
  return toItemList({ items, hasMore: false }, readInclude(request.query as Query));
}

async function getItem(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { item: id, ...place } = { ...placeOf(request), subject: (await callerOf(deps, request)).subject };
  const item = await deps.conversations.findItem(place, id);
  const include = readInclude(request.query as Query);
  if (item === undefined || !isShownItem(item, include)) throw notStored('item', id);
  return toShownItem(item, include);
}

async function removeItem(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<unknown> {
  const { item, ...place } = { ...placeOf(request), subject: (await callerOf(deps, request)).subject };
  const conversation = await deps.conversations.find(place);
  if (conversation === undefined) throw notStored('conversation', place.id);
  if (!(await deps.conversations.deleteItem(place, item))) throw notStored('item', item);
  return toShown(conversation);
}

async function find(deps: ConversationRoutesDeps, request: FastifyRequest): Promise<StoredConversation> {
  const place = { ...placeOf(request), subject: (await callerOf(deps, request)).subject };
  const found = await deps.conversations.find(place);
  if (found === undefined) throw notStored('conversation', place.id);
  return found;
}

async function readBody(
  deps: ConversationRoutesDeps,
  { raw, params }: FastifyRequest,
  { mayBeEmpty = false }: { mayBeEmpty?: boolean } = {},
): Promise<{ caller: Caller; body: JsonObject }> {
  const { maxBodyBytes } = deps.snapshot().configuration.security;
  refuseLargeBody(raw, maxBodyBytes);
  const caller = await deps.identify(readCredentials(raw), raw, 'accepts bound keys');
  requireUsable(caller, params);
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  if (mayBeEmpty && (length ?? '0') === '0' && encoding === undefined) return { caller, body: {} };
  requireJson(raw);
  const body = (await readJsonBody(raw, maxBodyBytes))() ?? {};
  if (!isJsonObject(body)) throw requestFault('body', 'must be an object');
  return { caller, body };
}

function toItems({ newId }: ConversationRoutesDeps, given: unknown): readonly JsonObject[] {
  if (!Array.isArray(given)) throw requestFault('items', 'must be an array');
  if (given.length > mostItems) throw requestFault('items', `must have at most ${mostItems} items`);
  return parseItems(given, 'items').map((item, index) => {
    if (item.type === 'item_reference') throw requestFault(`items[${index}].type`, 'is item_reference; send the item itself');
    return toStoredItem(item as JsonObject, newId);
  });
}

function requireStoring({ snapshot }: ConversationRoutesDeps): void {
  if (snapshot().configuration.responses.store === 'never')
    throw requestFault('conversation', 'cannot be made or added to: nothing is stored here');
}

async function requireRoom({ responses, snapshot }: ConversationRoutesDeps, { subject }: Caller): Promise<void> {
  const { maxBytesPerUser } = snapshot().configuration.responses;
  if ((await responses.keepWithin(subject, maxBytesPerUser)) > maxBytesPerUser) throw conversationsFull(maxBytesPerUser);
}

function idTaken(id: string) {
  return requestFault('items', `has the id ${JSON.stringify(id.slice(0, 100))}, which another item of the conversation has`);
}

async function callerOf({ identify }: ConversationRoutesDeps, { raw, params }: FastifyRequest): Promise<Caller> {
  const caller = await identify(readCredentials(raw), raw, 'accepts bound keys');
  requireUsable(caller, params);
  return caller;
}

/** An application uses no conversations of its user. A conversation that a bound key may not use is answered as if it did not exist. */
function requireUsable(caller: Caller, params: unknown): void {
  requireOwn(caller, 'use conversations');
  const { conversation } = params as { conversation?: string };
  if (conversation !== undefined && !mayUseRecord(caller, conversation)) throw notStored('conversation', conversation);
}

function placeOf({ params }: FastifyRequest): { id: string; item: string } {
  const { conversation, item = '' } = params as { conversation: string; item?: string };
  return { id: conversation, item };
}

function toShown({ id, createdAtMs, metadata }: StoredConversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata };
}
