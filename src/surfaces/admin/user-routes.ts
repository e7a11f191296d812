import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { isStorableKey, maxKeyBytes } from '#base/text/storable-key.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { BlockedUserBody } from '#contract/key-requests.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { BlockedUser, BlockedUserStore } from '#domain/callers/blocked-users.ts';
import { toVisibleKey } from '#domain/callers/key-form.ts';
import type { KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { type ApplicationStore, toPublicId } from '#domain/deployments/application-store.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import type { BlockedUsers } from '#services/callers/blocked-users.ts';
import type { UserKeys } from '#services/callers/user-keys.ts';
import type { People } from '#services/scim/people.ts';
import { type Query, readLimit, readText, requireKnown } from '../http/query.ts';
import { readJson, rejectLargeBody } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';
import { pageLimit, readCursor, readPage, toPage } from './query.ts';
import { requireAdmin, serveAdminRead } from './require-admin.ts';
import type { AdminDeps } from './routes.ts';

export interface AdminUserDeps extends Pick<AdminDeps, 'identify' | 'clock'> {
  readonly store: KeyStore;
  readonly userKeys: Pick<UserKeys, 'write'>;
  readonly blockedUserStore: BlockedUserStore;
  readonly blockedUsers: Pick<BlockedUsers, 'write'>;
  readonly recordAudit: RecordAudit;
  /** Keys of the configuration. If undefined, only keys of users are listed. */
  readonly configuredKeys?: ConfiguredKeys | undefined;
}

/** Access to the keys of the configuration. */
export interface ConfiguredKeys {
  /** Returns the keys after an ID, in the order of their IDs. */
  list(page: { readonly after: string; readonly limit: number }): Promise<readonly JsonObject[]>;
  /** Returns whether a key of the configuration has the ID. */
  has(id: string): Promise<boolean>;
  delete(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

const maxBodyBytes = storedEntries.blockedUser.maxBytes;
const checkBlock = createCheck(BlockedUserBody);

/**
 * Serves `/v1/admin/keys` (lists and deletes configured keys and keys of users) and `/v1/admin/blocked-users` (users whose
 * credentials are rejected).
 */
export function adminUserRoutes(app: FastifyInstance, deps: AdminUserDeps): void {
  serveAdminRead(app, deps, '/v1/admin/keys', (query) => listKeys(deps, query));
  serveEarly(app, { method: 'DELETE', url: '/v1/admin/keys/:entry' }, (request, reply) => revokeKey(deps, request, reply));
  serveAdminRead(app, deps, '/v1/admin/blocked-users', (query) => listBlocked(deps, query));
  const url = '/v1/admin/blocked-users/:user';
  serveEarly(app, { method: 'PUT', url }, (request, reply) => block(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url }, (request, reply) => unblock(deps, request, reply));
}

/** Start of a page token for configured keys, which are listed before the keys of users. */
const configuredTokenPrefix = 'configured.';

/** Lists the configured keys by ID, and then the keys of users, newest first. */
async function listKeys({ store, configuredKeys }: AdminUserDeps, query: Query): Promise<JsonObject> {
  requireKnown(query, ['user', 'limit', 'token']);
  const token = readText(query, 'token');
  const isConfigured = token?.startsWith(configuredTokenPrefix) ?? readText(query, 'user') === undefined;
  const page = isConfigured ? await listConfigured(configuredKeys, { token, limit: readLimit(query, pageLimit) }) : [];
  const { limit, beforeMs, beforeId } = readPage(isConfigured ? { ...query, token: undefined } : query);
  const remaining = limit - page.length;
  const last = page.at(-1);
  if (last !== undefined && remaining <= 0) {
    const nextToken = `${configuredTokenPrefix}${Buffer.from(String(last.id)).toString('base64url')}`;
    return { object: 'list', data: page, nextToken };
  }
  const items = await store.listPage({ owner: readText(query, 'user'), beforeMs, beforeId, limit: remaining + 1 });
  const toCursor = ({ createdAtMs: atMs, id }: StoredKey) => ({ atMs, id });
  const userPage = toPage(items, remaining, {
    toCursor,
    toItem: (key) => ({ ...toVisibleKey(key), source: 'user', user: key.owner, project: key.project }),
  });
  return { ...userPage, data: [...page, ...userPage.data] };
}

async function listConfigured(
  keys: ConfiguredKeys | undefined,
  { token, limit }: { readonly token: string | undefined; readonly limit: number },
): Promise<readonly JsonObject[]> {
  const after = token === undefined ? '' : Buffer.from(token.slice(configuredTokenPrefix.length), 'base64url').toString();
  return (await keys?.list({ after, limit })) ?? [];
}

async function revokeKey(deps: AdminUserDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { subject } = await requireAdmin(deps, request, reply, 'changes');
  const { entry: id } = request.params as { entry: string };
  if (await deps.configuredKeys?.has(id)) return deps.configuredKeys?.delete(request, reply);
  const owner = await deps.userKeys.write(() => deps.store.revoke(id, deps.clock.epochMs()));
  if (owner === undefined)
    throw new ParleyError('key_not_found', 'There is no key with this ID. GET /v1/admin/keys lists the keys.');
  deps.recordAudit({ action: 'key.revoked', subject, object: id, requestId: request.id, details: { user: owner } });
  reply.code(204);
}

async function listBlocked({ blockedUserStore }: AdminUserDeps, query: Query): Promise<JsonObject> {
  requireKnown(query, ['limit', 'token']);
  const { limit, beforeMs, beforeId: beforeUser } = readPage(query);
  const items = await blockedUserStore.list({ beforeMs, beforeUser, limit: limit + 1 });
  return toPage(items, limit, { toCursor: ({ blockedAtMs: atMs, user: id }) => ({ atMs, id }), toItem: toBlockedItem });
}

async function block(deps: AdminUserDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBodyBytes);
  const { subject: blockedBy } = await requireAdmin(deps, request, reply, 'changes');
  const user = readUser(request);
  if (user === blockedBy) throw createRequestError('user', 'is your own user. Ask another administrator to block it');
  const { reason = null } = await readBlock(request);
  const blocked = { user, reason, blockedAtMs: deps.clock.epochMs(), blockedBy };
  const outcome = await deps.blockedUsers.write(() => deps.blockedUserStore.put(blocked));
  const details = reason === null ? {} : { reason };
  deps.recordAudit({ action: 'user.blocked', subject: blockedBy, object: user, requestId: request.id, details });
  reply.code(outcome === 'added' ? 201 : 200);
  return toBlockedItem(blocked);
}

async function unblock(deps: AdminUserDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { subject } = await requireAdmin(deps, request, reply, 'changes');
  const user = readUser(request);
  if (!(await deps.blockedUsers.write(() => deps.blockedUserStore.delete(user))))
    throw new ParleyError('user_not_blocked', 'This user is not blocked. GET /v1/admin/blocked-users lists the blocked users.');
  deps.recordAudit({ action: 'user.unblocked', subject, object: user, requestId: request.id });
  reply.code(204);
}

function readUser({ params }: FastifyRequest): string {
  const { user } = params as { user: string };
  if (user !== '' && isStorableKey(user)) return user;
  throw createRequestError('user', `must be the ID of a user, percent-encoded: 1 to ${maxKeyBytes} bytes without NUL`);
}

/** Returns the parsed body. An empty body means a block without a reason. */
async function readBlock(request: FastifyRequest): Promise<BlockedUserBody> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) return {};
  return checkBlock(await readJson(request, { maxBytes: maxBodyBytes }));
}

function toBlockedItem({ user, reason, blockedAtMs: blockedAt, blockedBy }: BlockedUser): JsonObject {
  return { user, reason, blockedAt, blockedBy };
}

export interface AdminApplicationDeps extends Pick<AdminDeps, 'identify'> {
  readonly store: Pick<ApplicationStore, 'listShared'>;
  /** Undefined if the service does not store who has signed in. */
  readonly people: Pick<People, 'find'> | undefined;
}

/** Serves `/v1/admin/shared-applications`, the saved applications that other users may use. */
export function adminApplicationRoutes(app: FastifyInstance, deps: AdminApplicationDeps): void {
  serveAdminRead(app, deps, '/v1/admin/shared-applications', async (query) => {
    requireKnown(query, ['user', 'limit', 'token']);
    const limit = readLimit(query, pageLimit);
    const { id: after = '' } = readCursor(query) ?? {};
    const applications = await deps.store.listShared({ after, limit: limit + 1, user: readText(query, 'user') });
    const ids = applications.flatMap(({ owner, entry }) => [owner, ...(entry.users ?? [])]);
    const people = await deps.people?.find([...new Set(ids)]);
    const toPerson = (id: string): JsonObject => ({ id, name: people?.get(id)?.name ?? null });
    return toPage(applications, limit, {
      toCursor: ({ id }) => ({ atMs: 0, id }),
      toItem: ({ owner, entry, updatedAtMs: updatedAt, ...application }) => {
        const { displayName = null, userRoles: roles = [], users = [] } = entry;
        return { id: toPublicId(application), displayName, owner: toPerson(owner), roles, users: users.map(toPerson), updatedAt };
      },
    });
  });
}
