import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '#contract/errors/errors.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { toWriteCondition } from '../http/conditions.ts';
import { serveEarly } from '../http/serve-early.ts';
import type { ApplicationDeps } from './application-deps.ts';
import { notFound } from './place-in.ts';
import { readApplication } from './read-application.ts';
import { toShown } from './to-shown.ts';
import { openOwn } from './who-may.ts';
import { writeApplication } from './write-application.ts';

const base = '/v1/versions/applications/';

/** `/v1/versions/applications/{bucket}/{path}`: what an application was before, for its owner, and the way back. */
export function versionRoutes(app: FastifyInstance, deps: ApplicationDeps): void {
  const url = `${base}*`;
  serveEarly(app, { method: 'GET', url }, (request) => show(deps, request));
  serveEarly(app, { method: 'POST', url }, (request, reply) => restore(deps, request, reply));
}

async function show(deps: ApplicationDeps, request: FastifyRequest): Promise<unknown> {
  const { place } = await openOwn(deps, base, request);
  const version = versionIn(request);
  if (version !== undefined) return { ...toShown(await find(deps, place.id, version)), version };
  const versions = await deps.store.versions(place.id);
  if (versions.length === 0) throw notFound();
  return { object: 'list', data: versions.map(({ savedAtMs, ...each }) => ({ ...each, savedAt: savedAtMs })) };
}

/** Saves a former version once more, with its own secrets, if it is still something that could be saved. */
async function restore(deps: ApplicationDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { caller, place } = await openOwn(deps, base, request);
  const version = versionIn(request);
  if (version === undefined) throw noVersion();
  const now = await deps.store.find(place.id);
  if (now === undefined) throw notFound();
  const condition = toWriteCondition(request.headers, now);
  const former = await find(deps, place.id, version);
  const saving = { caller, place, snapshot: deps.snapshot(), catalog: deps.catalog, stored: former, files: deps.files };
  const entry = await readApplication(former.entry, saving);
  // One that is deleted meanwhile does not come back.
  const written = {
    caller,
    place,
    entry,
    condition: condition ?? ('present' as const),
    requestId: request.id,
    details: { restored: version },
  };
  const stored = await writeApplication(deps, written);
  reply.header('etag', `"${stored.etag}"`);
  return toShown(stored);
}

async function find({ store }: ApplicationDeps, id: string, version: number): Promise<StoredApplication> {
  const found = await store.findVersion(id, version);
  if (found !== undefined) return found;
  if ((await store.versions(id)).length === 0) throw notFound();
  throw new ParleyError('deployment_not_found', `The application has no version ${version}, or it is no longer kept.`);
}

/** Which version a request means; undefined for all of them. */
function versionIn({ raw }: FastifyRequest): number | undefined {
  const [, query = ''] = (raw.url ?? '').split('?', 2);
  const written = new URLSearchParams(query).get('version');
  if (written === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(written)) throw noVersion();
  return Number(written);
}

function noVersion(): ParleyError {
  return new ParleyError('invalid_request', 'version must be the number of a version.', { param: 'version' });
}
