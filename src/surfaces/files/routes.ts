import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Identify } from '#domain/callers/identify.ts';
import { getAppDataPath, toBucket } from '#domain/files/bucket.ts';
import { type ContentLocation, parseFileLocation } from '#domain/files/resource-location.ts';
import { getOwnFolder, requireWritable } from '#domain/files/resource-rights.ts';
import type { WriteCondition } from '#domain/files/write-condition.ts';
import { createResourceNotFoundError, type StoredResources } from '#services/files/stored-resources.ts';
import { hasCondition, toWriteCondition } from '../http/conditions.ts';
import { discardBody } from '../http/form/form-reader.ts';
import { identifyCaller, requirePlain } from '../http/read-request.ts';
import { sendFile, toSelection } from '../http/replies/send-file.ts';
import { invalidPath, toMetadata } from './resources/metadata.ts';
import { rejectLargeFile, withUpload } from './upload.ts';

export interface FileDeps {
  readonly files: StoredResources;
  readonly identify: Identify;
}

const filesBase = '/v1/files/';

/** Serves `/v1/bucket` and `/v1/files/{bucket}/{path}`: stored files (docs/wire.md, Files). */
export function fileRoutes(app: FastifyInstance, deps: FileDeps): void {
  // Separate scope, because Fastify must not parse the bodies of these routes, regardless of their media type.
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.get('/v1/bucket', async (request) => toBuckets(await identifyCaller(deps, request)));
    const url = `${filesBase}*`;
    scope.route({ method: ['GET', 'HEAD'], url, handler: (request, reply) => get(deps, request, reply) });
    scope.put(url, (request, reply) => put(deps, request, reply).finally(() => discardBody(request.raw)));
    scope.delete(url, (request, reply) => remove(deps, request, reply));
  });
}

/**
 * Returns the buckets of a caller. An application that answers has its own bucket or folder, independent of its user, and a
 * folder for the user's data.
 */
function toBuckets({ subject, chain }: Caller): Record<string, unknown> {
  if (chain === null) return { bucket: toBucket(subject) };
  const deployment = chain.path.at(-1) ?? '';
  const ownFolder = getOwnFolder(deployment);
  return {
    bucket: ownFolder.path === '' ? ownFolder.bucket : `${ownFolder.bucket}/${encodePath(ownFolder.path.slice(0, -1))}`,
    appdata: `${toBucket(subject)}/${encodePath(getAppDataPath(deployment))}`,
  };
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

async function get(deps: FileDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await identifyCaller(deps, request);
  const opened = await deps.files.openFile(caller, getLocation(request), (file) => toSelection(request, reply, file));
  return sendFile(request, reply, opened);
}

async function put(deps: FileDeps, request: FastifyRequest, reply: FastifyReply): Promise<Record<string, unknown>> {
  const { files } = deps;
  rejectLargeFile(request.raw, files.maxFileBytes);
  const caller = await identifyCaller(deps, request);
  requirePlain(request.headers);
  const { location, condition } = await prepareWrite(deps, request, caller);
  const file = await withUpload(request.raw, location.path, (content) => files.put(caller, location, { ...content, condition }));
  reply.header('etag', `"${file.etag}"`);
  return toMetadata(location, file);
}

async function remove(deps: FileDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await identifyCaller(deps, request);
  const { location, condition } = await prepareWrite(deps, request, caller);
  await deps.files.delete(caller, location, condition);
  return reply.code(204).send();
}

interface WriteTarget {
  readonly location: ContentLocation;
  readonly condition: WriteCondition;
}

/**
 * Returns the target of a write. Checks location, rights, and condition before the body is read, so that a rejected client need
 * not upload it.
 */
async function prepareWrite(deps: FileDeps, request: FastifyRequest, caller: Caller): Promise<WriteTarget> {
  const { headers } = request;
  const location = parsePath(request);
  if (location === undefined) throw invalidPath('files');
  requireWritable(caller, location);
  const condition = hasCondition(headers) ? toWriteCondition(headers, await deps.files.findCurrent(location)) : undefined;
  return { location, condition };
}

function getLocation(request: FastifyRequest): ContentLocation {
  const location = parsePath(request);
  if (location === undefined) throw createResourceNotFoundError({ kind: 'files' });
  return location;
}

function parsePath({ url }: FastifyRequest): ContentLocation | undefined {
  return parseFileLocation(stripPathPrefix(filesBase, url));
}
