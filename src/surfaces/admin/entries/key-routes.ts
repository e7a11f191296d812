import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { JsonObject } from '#base/json/json.ts';
import { AdminKeyRotation, FirstStartBody, NewAdminKey } from '#contract/administration/admin-keys.ts';
import { requireShape } from '#contract/errors/request-error.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import { createAdminKey } from '#domain/callers/user-key-form.ts';
import type { FirstStart } from '#services/administration/first-start.ts';
import type { EntryView, PlannedWrite } from '#services/administration/runtime-entries.ts';
import { rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { requireAdmin } from '../routes.ts';
import { change, type EntryDeps, readBody, requireRuntimeEntry } from './entry-routes.ts';

const newKeyShape = Compile(NewAdminKey);
const rotationShape = Compile(AdminKeyRotation);
const firstStartShape = Compile(FirstStartBody);
const { maxBytes } = storedEntries.adminKey;
const firstStartAuthor = `${subjectPrefixes.service}first-start`;

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
  const { maxBytes } = storedEntries.firstStart;
  reply.header('cache-control', 'no-store');
  rejectLargeBody(request.raw, maxBytes);
  const body = requireShape<Static<typeof FirstStartBody>>(firstStartShape as never, await readBody(request, maxBytes));
  const { id, key, plan } = deps.firstStart.createKey(body.token);
  await change(deps, request, plan, { author: firstStartAuthor, action: 'saved' });
  deps.firstStart.end();
  reply.code(201);
  return { id, key };
}

async function createKey(deps: EntryDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBytes);
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const body = requireShape<Static<typeof NewAdminKey>>(newKeyShape as never, await readBody(request, maxBytes));
  const id = `key_${deps.newId().replaceAll('-', '')}`;
  const { key, digest, prefix } = createAdminKey(deps.newSecret());
  const after = { value: { ...body, sha256: digest }, keyPrefix: prefix };
  await change(deps, request, () => [{ kind: 'keys', id, after }], { author, action: 'saved' });
  reply.code(201);
  return { id, key, prefix, ...body };
}

async function rotateKey(deps: EntryDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBytes);
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const { entry: id } = request.params as { entry: string };
  const { overlapSeconds = 0 } = requireShape<Static<typeof AdminKeyRotation>>(
    rotationShape as never,
    await readBody(request, maxBytes),
  );
  const { key, digest, prefix } = createAdminKey(deps.newSecret());
  const plan = (view: EntryView): readonly PlannedWrite[] => {
    const before = requireRuntimeEntry(view, { kind: 'keys', id });
    const { previous: _previous, ...value } = before.value;
    const until = new Date(deps.clock.epochMs() + overlapSeconds * 1000).toISOString();
    const previous = overlapSeconds > 0 && { previous: { sha256: value.sha256, until } };
    return [{ kind: 'keys', id, after: { value: { ...value, sha256: digest, ...previous }, keyPrefix: prefix } }];
  };
  await change(deps, request, plan, { author, action: 'rotated' });
  return { id, key, prefix };
}
