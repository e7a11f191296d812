import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathBelow } from '#base/http/url-path.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { requireRoom } from '#domain/deployments/application-resources.ts';
import { preconditionFailed } from '#domain/files/write-condition.ts';
import { isKnown, toWriteCondition } from '../http/conditions.ts';
import { leavingSignal } from '../http/leaving-signal.ts';
import { readJsonBody, refuseLargeBody, requireJson } from '../http/read-request.ts';
import { serveEarly } from '../http/serve-early.ts';
import type { ApplicationDeps } from './application-deps.ts';
import { findWarnings } from './find-warnings.ts';
import { notFound, placeIn } from './place-in.ts';
import { readApplication } from './read-application.ts';
import { toSharedView, toShown } from './to-shown.ts';
import { versionRoutes } from './version-routes.ts';
import { identifyUser, isOwner, requireOpen, requireOwner } from './who-may.ts';
import { writeApplication } from './write-application.ts';

const base = '/v1/applications/';

/** `/v1/applications/{bucket}/{path}`: applications made by users, `/v1/applications/{bucket}/`, one's own, and their versions (docs/wire.md, Applications). */
export function applicationRoutes(app: FastifyInstance, deps: ApplicationDeps): void {
  const url = `${base}*`;
  serveEarly(app, { method: 'GET', url }, (request, reply) => get(deps, request, reply));
  serveEarly(app, { method: 'PUT', url }, (request, reply) => put(deps, request, reply));
  serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, request, reply));
  versionRoutes(app, deps);
}

async function get(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const caller = await identifyUser(deps, request);
  const bucket = bucketIn(request);
  if (bucket !== undefined) return list(deps, caller, bucket);
  const place = placeIn(base, request);
  const isOwn = isOwner(caller, place);
  if (!isOwn) await requireOpen(deps, caller, place);
  const stored = await deps.store.find(place.id);
  if (stored === undefined) throw notFound();
  reply.header('etag', `"${stored.etag}"`);
  if (isKnown(request.headers, stored)) {
    reply.code(304);
    return undefined;
  }
  return isOwn ? toShown(stored) : toSharedView(stored);
}

async function list({ store }: ApplicationDeps, caller: Caller, bucket: string): Promise<unknown> {
  requireOwner(caller, { bucket });
  return { object: 'list', data: (await store.list(caller.subject)).map(toShown) };
}

async function put(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { store, catalog, files } = deps;
  const snapshot = deps.snapshot();
  const maxBytes = Math.min(storedEntries.application.maxBytes, snapshot.configuration.security.maxBodyBytes);
  refuseLargeBody(request.raw, maxBytes);
  const caller = await identifyUser(deps, request);
  requireJson(request.raw);
  const body = await readJsonBody(request.raw, maxBytes);
  const place = placeIn(base, request);
  requireOwner(caller, place);
  const before = await store.find(place.id);
  const condition = toWriteCondition(request.headers, before);
  const entry = await readApplication(body(), { caller, place, snapshot, catalog, stored: before, files });
  if (before === undefined) requireRoom(await store.list(caller.subject));
  const stored = await writeApplication(deps, { caller, place, entry, condition, requestId: request.id });
  reply.code(before === undefined ? 201 : 200).header('etag', `"${stored.etag}"`);
  const signal = leavingSignal(reply.raw);
  const warnings = await findWarnings(entry, { caller, snapshot, catalog, files, survey: deps.survey, signal });
  return { ...toShown(stored), ...(warnings.length > 0 && { warnings }) };
}

async function remove(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await identifyUser(deps, request);
  const { id, bucket } = placeIn(base, request);
  requireOwner(caller, { bucket });
  const condition = toWriteCondition(request.headers, await deps.store.find(id));
  const outcome = await deps.store.delete(id, condition);
  if (outcome === 'absent') throw notFound();
  if (outcome === 'condition_failed') throw preconditionFailed();
  deps.noteAudit({ action: 'application.deleted', subject: caller.subject, object: id, requestId: request.id });
  reply.code(204);
}

/** The bucket, where the path names one and nothing in it. */
function bucketIn({ url }: FastifyRequest): string | undefined {
  return /^([^/]+)\/?$/.exec(pathBelow(base, url))?.[1];
}
