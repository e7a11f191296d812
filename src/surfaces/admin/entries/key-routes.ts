import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { JsonObject } from '#base/json/json.ts';
import { AdminKeyRotation, NewAdminKey } from '#contract/administration/admin-keys.ts';
import { requireShape } from '#contract/errors/request-error.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import { createAdminKey } from '#domain/callers/user-key-form.ts';
import type { EntryView, PlannedWrite } from '#services/administration/runtime-entries.ts';
import { rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { requireAdmin } from '../routes.ts';
import { change, type EntryDeps, readBody, requireRuntimeEntry } from './entry-routes.ts';

const newKeyShape = Compile(NewAdminKey);
const rotationShape = Compile(AdminKeyRotation);
const { maxBytes } = storedEntries.adminKey;

/** Serves the creation and rotation of keys at run time. */
export function adminKeyRoutes(app: FastifyInstance, deps: EntryDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/admin/keys' }, (request, reply) => createKey(deps, request, reply));
  serveEarly(app, { method: 'POST', url: '/v1/admin/keys/:entry/rotate' }, (request, reply) => rotateKey(deps, request, reply));
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
