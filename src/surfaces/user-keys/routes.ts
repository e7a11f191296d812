import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { dayMs } from '#base/time/clock.ts';
import type { AuditAction } from '#contract/administration/audit-actions.ts';
import type { SelfService } from '#contract/configuration/access.ts';
import { isNetwork } from '#contract/configuration/values.ts';
import { toDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { KeyRotation, NewKey } from '#contract/key-requests.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createUserKey, toVisibleKey } from '#domain/callers/key-form.ts';
import type { KeyRef, KeyStore, StoredKey } from '#domain/callers/key-store.ts';
import { requireSelfService, requireSignedIn } from '#domain/callers/self-service.ts';
import type { UserKeys } from '#services/callers/user-keys.ts';
import { identifyCaller, readRequest, type SurfaceDeps } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-raw.ts';

export interface KeyRoutesDeps extends SurfaceDeps {
  readonly store: KeyStore;
  readonly userKeys: Pick<UserKeys, 'write'>;
  readonly newId: () => string;
  /** Returns 32 random bytes in base64url. */
  readonly newSecret: () => string;
}

const checkNewKey = createCheck(NewKey);
const checkRotation = createCheck(KeyRotation);
const { userKey } = storedEntries;

/** Serves `/v1/user/keys`: keys that signed-in users create for themselves (docs/keys.md). */
export function keyRoutes(app: FastifyInstance, deps: KeyRoutesDeps): void {
  const url = '/v1/user/keys';
  serveEarly(app, { method: 'POST', url }, (request, reply) => create(deps, request, reply));
  app.get(url, (request) => list(deps, request));
  serveEarly(app, { method: 'DELETE', url: `${url}/:key` }, (request, reply) => remove(deps, request, reply));
  serveEarly(app, { method: 'POST', url: `${url}/:key/rotate` }, (request) => rotate(deps, request));
}

async function create(deps: KeyRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { caller: creator, body } = await readRequest(request, userKey, () => identifyCreator(deps, request));
  const { owner, selfService } = creator;
  const newKey = checkNewKey(body());
  const { key, ...createdKey } = createUserKey(deps.newSecret());
  const stored = toStoredKey(newKey, { owner, selfService, createdKey, id: deps.newId(), nowMs: deps.clock.epochMs() });
  if ((await deps.userKeys.write(() => deps.store.add(stored, selfService.keys))) === 'full')
    throw new ParleyError(
      'too_many_keys',
      `Your roles allow at most ${selfService.keys} ${selfService.keys === 1 ? 'key' : 'keys'} at a time. Delete a key that you do not need.`,
    );
  recordKeyAudit(deps, request, { action: 'key.made', key: stored });
  reply.code(201);
  return { ...toVisibleKey(stored), key };
}

async function list(deps: KeyRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const owner = await identifyOwner(deps, request);
  return { object: 'list', data: (await deps.store.list(owner.subject)).map(toVisibleKey) };
}

async function remove(deps: KeyRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { subject: owner } = await identifyOwner(deps, request);
  const ref = { owner, id: getKeyId(request) };
  if (!(await deps.userKeys.write(() => deps.store.delete(ref, deps.clock.epochMs())))) throw createNotFoundError();
  recordKeyAudit(deps, request, { action: 'key.deleted', key: ref });
  reply.code(204);
}

async function rotate(deps: KeyRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const { caller: creator, body } = await readRequest(request, userKey, () => identifyCreator(deps, request));
  const ref = { owner: creator.owner.subject, id: getKeyId(request) };
  const { overlapSeconds = 0 } = checkRotation(body());
  const { key, ...createdKey } = createUserKey(deps.newSecret());
  const atMs = deps.clock.epochMs();
  const rotation = { ...createdKey, atMs, formerUntilMs: atMs + overlapSeconds * 1000 };
  const rotated = await deps.userKeys.write(() => deps.store.rotate(ref, rotation));
  if (rotated === undefined) throw createNotFoundError();
  recordKeyAudit(deps, request, { action: 'key.rotated', key: ref });
  return { ...toVisibleKey(rotated), key };
}

/** Returns the user and the limits for new keys. Throws unless the user may create keys. */
async function identifyCreator(
  deps: KeyRoutesDeps,
  request: FastifyRequest,
): Promise<{ readonly owner: Caller; readonly selfService: SelfService }> {
  const owner = await identifyCaller(deps, request);
  return { owner, selfService: requireSelfService(deps.snapshot().configuration, owner) };
}

/** Returns a signed-in user. Users may list and delete keys even if they may no longer create them. Throws for other callers. */
async function identifyOwner(deps: KeyRoutesDeps, request: FastifyRequest): Promise<Caller> {
  const owner = await identifyCaller(deps, request);
  requireSignedIn(owner);
  return owner;
}

function getKeyId({ params }: FastifyRequest): string {
  return (params as { key: string }).key;
}

function recordKeyAudit(
  { recordAudit }: KeyRoutesDeps,
  { id: requestId }: FastifyRequest,
  { action, key }: { readonly action: AuditAction; readonly key: KeyRef },
): void {
  recordAudit({ action, subject: key.owner, object: key.id, requestId });
}

function createNotFoundError(): ParleyError {
  return new ParleyError('key_not_found', 'You have no active key with this ID. GET /v1/user/keys lists your keys.');
}

/** Properties of a new key that do not come from the request body. */
interface KeyCreation {
  readonly owner: Caller;
  readonly selfService: SelfService;
  readonly id: string;
  readonly createdKey: Pick<ReturnType<typeof createUserKey>, 'digest' | 'prefix'>;
  readonly nowMs: number;
}

/** Returns the key to store. Throws `invalid_request` with the path of an invalid field. */
function toStoredKey(newKey: NewKey, { owner, selfService, id, createdKey, nowMs }: KeyCreation): StoredKey {
  const { name = '', deployments, allowedIps } = newKey;
  if (/\p{C}/u.test(name)) throw createRequestError('name', 'must be one line of text');
  return {
    ...{ id, owner: owner.subject, project: owner.project, roles: owner.roles, signedInAtMs: owner.signedInAtMs ?? nowMs },
    ...{ name, prefix: createdKey.prefix, digest: createdKey.digest, version: 1, former: null },
    deployments: deployments === undefined ? null : [...new Set(deployments.map(requireDeploymentId))],
    allowedIps: allowedIps === undefined ? null : [...new Set(allowedIps.map(requireNetwork))],
    ...{ createdAtMs: nowMs, expiresAtMs: computeExpiryMs(newKey, selfService, nowMs), lastUsedAtMs: null },
  };
}

function computeExpiryMs({ expiresAt, days }: NewKey, { maxDays }: SelfService, nowMs: number): number {
  if (expiresAt !== undefined && days !== undefined) throw createRequestError('days', 'cannot be combined with expiresAt');
  if (days !== undefined && days > maxDays)
    throw createRequestError('days', `must be at most ${maxDays}, the maximum of your roles`);
  const latestMs = nowMs + maxDays * dayMs;
  if (expiresAt === undefined) return days === undefined ? latestMs : nowMs + days * dayMs;
  if (expiresAt <= nowMs) throw createRequestError('expiresAt', 'must be in the future, in milliseconds since the epoch');
  if (expiresAt > latestMs)
    throw createRequestError('expiresAt', `must be at most ${latestMs}: your roles allow at most ${maxDays} days from now`);
  return expiresAt;
}

function requireDeploymentId(text: string, index: number): string {
  const id = toDeploymentId(text);
  if (id === undefined) throw createRequestError(`deployments[${index}]`, 'is not a valid deployment ID');
  return id;
}

function requireNetwork(text: string, index: number): string {
  const [address = ''] = text.split('/');
  if (isNetwork(text) && isIP(address) !== 0) return text;
  throw createRequestError(`allowedIps[${index}]`, 'must be an IP address, or a network such as 10.0.0.0/8');
}
