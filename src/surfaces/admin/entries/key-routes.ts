import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { JsonObject } from '#base/json/json.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { AdminKeyRotation, FirstStartBody, NewAdminKey } from '#contract/key-requests.ts';
import { adminRole, auditorRole, defaultRole, scimRole } from '#contract/roles.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { RuntimeEntry } from '#domain/administration/entry-store.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createRuntimeKey } from '#domain/callers/key-form.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { FirstStart } from '#services/administration/first-start.ts';
import type { EntryView, PlannedWrite } from '#services/administration/runtime-entries.ts';
import { readJson, rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { ownsProject, requireAdmin, requireKeyCreator } from '../require-admin.ts';
import type { ConfiguredKeys } from '../user-routes.ts';
import { addLastUses, type EntryDeps, hasEntry, listEntries, requireRuntimeEntry } from './entry-items.ts';
import { deleteEntry } from './entry-routes.ts';
import { applyChange } from './entry-writes.ts';

const checkNewKey = createCheck(NewAdminKey);
const checkRotation = createCheck(AdminKeyRotation);
const checkFirstStart = createCheck(FirstStartBody);
const { maxBytes } = storedEntries.adminKey;
const firstStartAuthor = `${subjectPrefixes.service}first-start`;
/** Maximum number of run-time keys in a project. Owners cannot create more, but administrators can. */
const maxOwnerKeys = 100;
const administrativeRoles: ReadonlySet<string> = new Set([adminRole, auditorRole, scimRole]);

type NewKey = Static<typeof NewAdminKey>;

export interface KeyDeps extends EntryDeps {
  readonly firstStart: FirstStart;
}

/** Serves the creation and rotation of keys at run time, and the key of the first administrator. */
export function adminKeyRoutes(app: FastifyInstance, deps: KeyDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/admin/keys' }, (request, reply) => createKey(deps, request, reply));
  serveEarly(app, { method: 'POST', url: '/v1/admin/keys/:entry/rotate' }, (request, reply) => rotateKey(deps, request, reply));
  serveEarly(app, { method: 'POST', url: '/v1/admin/first-start' }, (request, reply) => exchangeToken(deps, request, reply));
}

/** Exchanges the token of the first start for an admin key. The token is the credential, so the request needs no key. */
async function exchangeToken(deps: KeyDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { firstStart } = storedEntries;
  reply.header('cache-control', 'no-store');
  rejectLargeBody(request.raw, firstStart.maxBytes);
  const { token } = checkFirstStart(await readJson(request, firstStart));
  const { id, key, plan } = deps.firstStart.createKey(token);
  await applyChange(deps, request, plan, { author: firstStartAuthor, action: 'saved' });
  deps.firstStart.end();
  reply.code(201);
  return { id, key };
}

async function createKey(deps: EntryDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBytes);
  const { caller, isAdmin } = await requireKeyCreator(deps, request, reply);
  const body = checkNewKey(await readJson(request, { maxBytes }));
  if (!isAdmin) requireOwnerRights(deps.snapshot(), caller, body);
  const id = `key_${deps.newId().replaceAll('-', '')}`;
  const { key, digest, prefix } = createRuntimeKey(deps.newSecret());
  const after = { value: { ...body, sha256: digest }, keyPrefix: prefix };
  const plan = ({ entries }: EntryView): readonly PlannedWrite[] => {
    if (!isAdmin) requireKeyCapacity(entries.values(), body.project);
    return [{ kind: 'keys', id, after }];
  };
  await applyChange(deps, request, plan, { author: caller.subject, action: 'saved' });
  reply.code(201);
  return { id, key, prefix, ...body };
}

/**
 * Throws `access_denied` if an owner creates a key in another project, or a key with a role that the owner does not have. An
 * owner can never create a key with an administrative role.
 */
function requireOwnerRights(snapshot: ConfigSnapshot, caller: Caller, { project, roles = [] }: NewKey): void {
  if (!ownsProject(snapshot, caller, project))
    throw new ParleyError('access_denied', `You cannot create keys in the project ${project}, because you do not own it.`);
  // A key without roles has those of the role `default`.
  const effectiveRoles = roles.length > 0 ? roles : [defaultRole];
  const excessRole = effectiveRoles.find((role) => administrativeRoles.has(role) || !caller.roles.includes(role));
  if (excessRole !== undefined)
    throw new ParleyError(
      'access_denied',
      `You cannot create a key with the role ${excessRole}. Send roles that you have yourself.`,
    );
}

/** Throws `too_many_keys` if a project has as many keys as its owners may create. */
function requireKeyCapacity(entries: Iterable<RuntimeEntry>, project: string): void {
  const count = [...entries].filter(({ kind, value }) => kind === 'keys' && value.project === project).length;
  if (count >= maxOwnerKeys)
    throw new ParleyError(
      'too_many_keys',
      `The project ${project} has ${count} keys, and its owners can create at most ${maxOwnerKeys}. Ask an administrator to delete keys.`,
    );
}

async function rotateKey(deps: EntryDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBytes);
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const { entry: id } = request.params as { entry: string };
  const { overlapSeconds = 0 } = checkRotation(await readJson(request, { maxBytes }));
  const { key, digest, prefix } = createRuntimeKey(deps.newSecret());
  const plan = (view: EntryView): readonly PlannedWrite[] => {
    const before = requireRuntimeEntry(deps, view, { kind: 'keys', id });
    const { previous: _previous, ...value } = before.value;
    const until = new Date(deps.clock.epochMs() + overlapSeconds * 1000).toISOString();
    const previous = overlapSeconds > 0 && { previous: { sha256: value.sha256, until } };
    return [{ kind: 'keys', id, after: { value: { ...value, sha256: digest, ...previous }, keyPrefix: prefix } }];
  };
  await applyChange(deps, request, plan, { author, action: 'rotated' });
  return { id, key, prefix };
}

/** Returns access to the keys of the configuration files and to the keys of administrators, for `/v1/admin/keys`. */
export function createConfiguredKeys(deps: EntryDeps): ConfiguredKeys {
  return {
    async list({ after, limit }) {
      const listed = await listEntries(deps, 'keys');
      const page = listed.filter(({ id }) => id > after).slice(0, limit);
      return addLastUses(
        deps,
        page.map(({ toItem }) => toItem()),
      );
    },
    has: (id) => hasEntry(deps, { kind: 'keys', id }),
    delete: (request, reply) => deleteEntry(deps, 'keys', request, reply),
  };
}
