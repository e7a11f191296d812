import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonBounds, type JsonObject } from '#base/json/json.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { scimRole } from '#contract/roles.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { getMember } from '#domain/scim/scim-filter.ts';
import type { ScimBlock, ScimGroup, ScimMember, ScimStore, ScimUser, ScimWriteResult } from '#domain/scim/scim-store.ts';
import { StoreError } from '#domain/store-error.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { type GroupRoles, toScimSubject } from '#services/scim/group-roles.ts';
import type { Query } from '../http/query.ts';
import { identifyUser, isPlainType, parseBody, readBody, rejectLargeBody, requireJson } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';
import { patchGroup, patchUser, readMemberIds, readOperations } from './patch.ts';
import {
  readGroup,
  readListQuery,
  readUser,
  resourceTypes,
  schemas,
  serviceProviderConfig,
  toGroupResource,
  toListResponse,
  toUserResource,
} from './resources.ts';
import { scimError, scimMediaType, scimPrefix } from './scim-error.ts';

const { maxBytes: maxUserBytes } = storedEntries.scimUser;
const { maxBytes: maxGroupBytes } = storedEntries.scimGroup;
/** Maximum number of memberships in one response. */
const maxMembers = 20_000;
/**
 * Bounds of the body for a user. Each change of a PATCH request searches all attributes of the user, and nests its value up to 4
 * levels deeper.
 */
const userBounds: Partial<JsonBounds> = { maxNodes: 10_000, maxDepth: 32 };

export interface ScimDeps {
  readonly identify: Identify;
  readonly store: ScimStore;
  readonly groupRoles: Pick<GroupRoles, 'write'>;
  readonly blockedUsers: { write<Value>(write: () => Promise<Value>): Promise<Value> };
  readonly snapshot: () => { readonly configuration: Configuration };
  readonly clock: Pick<Clock, 'epochMs'>;
  readonly newId: () => string;
  readonly recordAudit: RecordAudit;
}

type Handler = (request: FastifyRequest, caller: Caller) => Promise<JsonObject | undefined>;

/** Serves SCIM 2.0 (RFC 7644) below `/scim/v2` for keys with the role `scim`. */
export function scimRoutes(app: FastifyInstance, deps: ScimDeps): void {
  const serve = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, maxBytes: number, handle: Handler): void =>
    serveEarly(app, { method, url: `${scimPrefix}${path}` }, async (request, reply) => {
      rejectLargeBody(request.raw, maxBytes);
      const caller = await requireScimRole(deps, request, reply);
      const body = await handle(request, caller);
      if (method === 'POST') reply.code(201);
      if (body === undefined) reply.code(204);
      else reply.type(scimMediaType);
      return body === undefined ? undefined : JSON.stringify(body);
    });
  serve('GET', '/ServiceProviderConfig', 0, async () => serviceProviderConfig);
  for (const [path, list] of [
    ['/ResourceTypes', resourceTypes],
    ['/Schemas', schemas],
  ] as const) {
    serve('GET', path, 0, async () => toListResponse(list.length, 1, list));
    serve('GET', `${path}/:name`, 0, async ({ params }) => {
      const { name } = params as { name: string };
      return list.find(({ id }) => id === name) ?? throwNotFound();
    });
  }
  serve('GET', '/Users', 0, ({ query }) => listUsers(deps, query as Query));
  serve('POST', '/Users', maxUserBytes, (request) => createUser(deps, request));
  serve('GET', '/Users/:user', 0, async (request) => loadUserResource(deps, await findUser(deps, request)));
  serve('PUT', '/Users/:user', maxUserBytes, (request) =>
    changeUser(deps, request, async () => {
      const body = await readObjectBody(request, maxUserBytes, userBounds);
      return () => body;
    }),
  );
  serve('PATCH', '/Users/:user', maxUserBytes, (request) =>
    changeUser(deps, request, async () => {
      const operations = readOperations(await readObjectBody(request, maxUserBytes, userBounds));
      return (before) => patchUser(toUserResource(before, []), operations);
    }),
  );
  serve('DELETE', '/Users/:user', 0, (request) => deleteUser(deps, request));
  serve('GET', '/Groups', 0, ({ query }) => listGroups(deps, query as Query));
  serve('POST', '/Groups', maxGroupBytes, (request) => createGroup(deps, request));
  serve('GET', '/Groups/:group', 0, (request) => readGroupResource(deps, request));
  serve('PUT', '/Groups/:group', maxGroupBytes, (request) => replaceGroup(deps, request));
  serve('PATCH', '/Groups/:group', maxGroupBytes, (request) => changeGroup(deps, request));
  serve('DELETE', '/Groups/:group', 0, (request) => deleteGroup(deps, request));
}

async function requireScimRole(deps: ScimDeps, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  reply.header('cache-control', 'no-store');
  const caller = await identifyUser(deps, request, 'provision users');
  if (caller.roles.includes(scimRole)) return caller;
  throw new ParleyError('access_denied', `This requires a key with the role ${scimRole}.`);
}

async function readObjectBody({ raw }: FastifyRequest, maxBytes: number, bounds?: Partial<JsonBounds>): Promise<JsonObject> {
  if (!isPlainType(raw, scimMediaType)) requireJson(raw);
  const body = parseBody(await readBody(raw, maxBytes), bounds);
  if (isJsonObject(body)) return body;
  throw scimError('invalidSyntax', 'The body must be an object.');
}

/** Returns the ID of a resource in the path. */
function readId({ params }: FastifyRequest, name: 'user' | 'group'): string {
  const id = (params as Record<string, string>)[name] ?? '';
  return isStorableKey(id) ? id : throwNotFound();
}

function throwNotFound(): never {
  throw new ParleyError('resource_not_found', 'There is no resource with this ID.');
}

/** Throws the error of a write that was not stored. */
function requireStored(result: ScimWriteResult): void {
  if (result === 'taken') throw scimError('uniqueness', 'Another resource has this name. Find it with a filter, and change it.');
  if (result === 'full') throw scimError('tooMany', 'There are too many resources. Delete those that are not used.');
  if (result === 'unknown') throw scimError('invalidValue', 'A member is not the ID of a user. Create the user first.');
  if (result === 'missing') throwNotFound();
}

async function listUsers({ store }: ScimDeps, query: Query): Promise<JsonObject> {
  const { startIndex, ...page } = readListQuery(query, 'User');
  const { total, resources } = await store.listUsers(page);
  const members = await store.listMembers({ users: resources.map(({ id }) => id) }, maxMembers + 1);
  if (members.length > maxMembers)
    throw scimError('tooMany', 'The users of the page are in too many groups. Send a smaller count.');
  const items = resources.map((user) =>
    toUserResource(
      user,
      members.filter(({ userId }) => userId === user.id),
    ),
  );
  return toListResponse(total, startIndex, items);
}

async function findUser({ store }: ScimDeps, request: FastifyRequest): Promise<ScimUser> {
  return (await store.findUser(readId(request, 'user'))) ?? throwNotFound();
}

async function loadUserResource({ store }: ScimDeps, user: ScimUser): Promise<JsonObject> {
  return toUserResource(user, await store.listMembers({ users: [user.id] }, maxMembers));
}

async function createUser(deps: ScimDeps, request: FastifyRequest): Promise<JsonObject> {
  const atMs = deps.clock.epochMs();
  const body = await readObjectBody(request, maxUserBytes, userBounds);
  const user = { id: deps.newId(), ...readUser(body), createdAtMs: atMs, updatedAtMs: atMs };
  await writeUser(deps, request, { user, action: 'scim.user_created' }, (block) => deps.store.addUser(user, block));
  return loadUserResource(deps, user);
}

/** Number of attempts to change a user that other requests change at the same time. */
const maxChangeAttempts = 10;

/**
 * Changes a user. If another request changes the user at the same time, applies the change to the result of that request.
 * Otherwise, the change could activate a deactivated user again.
 */
async function changeUser(
  deps: ScimDeps,
  request: FastifyRequest,
  readChange: () => Promise<(before: ScimUser) => JsonObject>,
): Promise<JsonObject> {
  let before = await findUser(deps, request);
  const change = await readChange();
  for (let attempt = 1; attempt <= maxChangeAttempts; attempt += 1) {
    const user = { ...before, ...readUser(change(before)), updatedAtMs: deps.clock.epochMs() };
    if (Buffer.byteLength(JSON.stringify(user.attributes)) > maxUserBytes)
      throw scimError('tooMany', `The attributes of a user can have at most ${maxUserBytes} bytes.`);
    const write = { user, action: 'scim.user_changed' } as const;
    const isStored = await writeUser(deps, request, write, (block) => deps.store.replaceUser(before, user, block));
    if (isStored) return loadUserResource(deps, user);
    before = await findUser(deps, request);
  }
  throw new StoreError('other requests change the user continuously');
}

async function deleteUser(deps: ScimDeps, request: FastifyRequest): Promise<undefined> {
  const user = { ...(await findUser(deps, request)), isActive: false };
  await writeUser(deps, request, { user, action: 'scim.user_deleted' }, (block) => deps.store.deleteUser(user.id, block));
}

interface UserWrite {
  readonly user: ScimUser;
  readonly action: 'scim.user_created' | 'scim.user_changed' | 'scim.user_deleted';
}

/** Writes a user together with its block, and adds both to the audit log. Returns false if another request changed the user. */
async function writeUser(
  deps: ScimDeps,
  request: FastifyRequest,
  { user, action }: UserWrite,
  write: (block: ScimBlock | undefined) => Promise<ScimWriteResult>,
): Promise<boolean> {
  const { configuration } = deps.snapshot();
  // Names ignore case, so the block must match a user who is created again with another case.
  const subject = toScimSubject(configuration, user)?.toLowerCase();
  if (subject === undefined && !user.isActive)
    throw scimError(
      'invalidValue',
      `Parley cannot block this user: the user has no ${configuration.scim.userAttribute}, or the provider of scim is not in identityProviders.`,
    );
  const isBlocked = !user.isActive;
  const reason = action === 'scim.user_deleted' ? 'Deleted by provisioning' : 'Deactivated by provisioning';
  const block = subject === undefined ? undefined : { subject, isBlocked, reason, atMs: deps.clock.epochMs() };
  const result = await deps.blockedUsers.write(() => deps.groupRoles.write(() => write(block)));
  if (result === 'outdated') return false;
  requireStored(result);
  const details = { user: subject ?? '', active: String(user.isActive) };
  deps.recordAudit({ action, subject: undefined, object: user.id, requestId: request.id, details });
  return true;
}

async function listGroups({ store }: ScimDeps, query: Query): Promise<JsonObject> {
  const { startIndex, ...page } = readListQuery(query, 'Group');
  const { total, resources } = await store.listGroups(page);
  const members = await listGroupMembers(store, resources, query);
  if (members === 'too many')
    throw scimError(
      'tooMany',
      'The groups of the page have too many members. Add excludedAttributes=members or a smaller count.',
    );
  const toItem = (group: ScimGroup) =>
    toGroupResource(
      group,
      members?.filter(({ groupId }) => groupId === group.id),
    );
  return toListResponse(total, startIndex, resources.map(toItem));
}

/** Returns whether a response includes the members of groups. Microsoft Entra ID excludes them. */
function includesMembers({ excludedAttributes }: Query): boolean {
  return typeof excludedAttributes !== 'string' || !excludedAttributes.toLowerCase().split(',').includes('members');
}

async function findGroup({ store }: ScimDeps, request: FastifyRequest): Promise<ScimGroup> {
  return (await store.findGroup(readId(request, 'group'))) ?? throwNotFound();
}

/** Returns the members of groups. Returns undefined if the client excludes them, and `too many` if they do not fit in a response. */
async function listGroupMembers(
  store: ScimStore,
  groups: readonly ScimGroup[],
  query: Query,
): Promise<readonly ScimMember[] | 'too many' | undefined> {
  if (!includesMembers(query)) return undefined;
  const members = await store.listMembers({ groups: groups.map(({ id }) => id) }, maxMembers + 1);
  return members.length > maxMembers ? 'too many' : members;
}

async function readGroupResource(deps: ScimDeps, request: FastifyRequest): Promise<JsonObject> {
  const group = await findGroup(deps, request);
  const members = await listGroupMembers(deps.store, [group], request.query as Query);
  if (members === 'too many')
    throw scimError('tooMany', `The group has more than ${maxMembers} members. Add excludedAttributes=members.`);
  return toGroupResource(group, members);
}

async function createGroup(deps: ScimDeps, request: FastifyRequest): Promise<JsonObject> {
  const atMs = deps.clock.epochMs();
  const body = await readObjectBody(request, maxGroupBytes);
  const group = { id: deps.newId(), ...readGroup(body), createdAtMs: atMs, updatedAtMs: atMs };
  const members = readMemberIds(getMember(body, 'members'));
  return writeGroup(deps, request, group, () => deps.store.addGroup(group, members));
}

async function replaceGroup(deps: ScimDeps, request: FastifyRequest): Promise<JsonObject> {
  const before = await findGroup(deps, request);
  const body = await readObjectBody(request, maxGroupBytes);
  const group = { ...before, ...readGroup(body), updatedAtMs: deps.clock.epochMs() };
  const changes = [{ op: 'set', userIds: readMemberIds(getMember(body, 'members')) }] as const;
  return writeGroup(deps, request, group, () => deps.store.replaceGroup(group, changes));
}

async function changeGroup(deps: ScimDeps, request: FastifyRequest): Promise<JsonObject> {
  const before = await findGroup(deps, request);
  const operations = readOperations(await readObjectBody(request, maxGroupBytes));
  const { attributes, members } = patchGroup(toGroupResource(before, undefined), operations);
  const group = { ...before, ...readGroup(attributes), updatedAtMs: deps.clock.epochMs() };
  return writeGroup(deps, request, group, () => deps.store.replaceGroup(group, members));
}

async function deleteGroup(deps: ScimDeps, request: FastifyRequest): Promise<undefined> {
  const id = readId(request, 'group');
  requireStored(await deps.groupRoles.write(() => deps.store.deleteGroup(id)));
  deps.recordAudit({ action: 'scim.group_deleted', subject: undefined, object: id, requestId: request.id });
}

async function writeGroup(
  deps: ScimDeps,
  request: FastifyRequest,
  group: ScimGroup,
  write: () => Promise<ScimWriteResult>,
): Promise<JsonObject> {
  requireStored(await deps.groupRoles.write(write));
  const details = { name: group.displayName };
  deps.recordAudit({ action: 'scim.group_saved', subject: undefined, object: group.id, requestId: request.id, details });
  // A partial list would look complete.
  const members = await listGroupMembers(deps.store, [group], request.query as Query);
  return toGroupResource(group, members === 'too many' ? undefined : members);
}
