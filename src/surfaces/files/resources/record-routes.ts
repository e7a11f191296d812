import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathBelow } from '#base/url-path.ts';
import { ParleyError } from '#contract/errors.ts';
import { ConversationRecord, PromptRecord, parserOf } from '#contract/resource-requests.ts';
import { storedEntries } from '#contract/stored-entries.ts';
import { type ContentPlace, isFolder, isTooLong, toPlace } from '#domain/files/resource-place.ts';
import { requireWritable } from '#domain/files/resource-rights.ts';
import type { WriteCondition } from '#domain/files/write-condition.ts';
import { hasCondition, toWriteCondition } from '../../http/conditions.ts';
import { sendFile, toSelection } from '../../http/read-file.ts';
import { refuseLargeBody, requireJson } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-early.ts';
import { noPlace, notFound, pathTooLong } from './not-found.ts';
import { readStrictBody } from './read-strict-body.ts';
import { callerOf, type ResourceDeps } from './resource-deps.ts';
import { toMetadata } from './to-metadata.ts';

/** Prompts and conversations: records of JSON, kept as they are sent. */
interface RecordKind {
  readonly kind: 'prompts' | 'conversations';
  /** `security.maxBodyBytes` may be less. */
  readonly maxBytes: number;
  /** Throws invalid_request for what is none. */
  readonly check: (body: unknown) => unknown;
}

const recordKinds: readonly RecordKind[] = [
  { kind: 'prompts', maxBytes: storedEntries.prompt.maxBytes, check: parserOf(PromptRecord) },
  { kind: 'conversations', maxBytes: storedEntries.conversation.maxBytes, check: parserOf(ConversationRecord) },
];

/** How ids of conversations of the Responses API begin, which stand where buckets do. */
const conversationId = /^conv_/;

/** `/v1/prompts/{bucket}/{path}` and `/v1/conversations/{bucket}/{path}` (docs/wire.md, Files). */
export function recordRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const record of recordKinds) {
    const url = `/v1/${record.kind}/*`;
    app.get(url, (request, reply) => get(deps, record, request, reply));
    serveEarly(app, { method: 'PUT', url }, (request, reply) => put(deps, record, request, reply));
    serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, record, request, reply));
  }
}

async function get(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await callerOf(deps, request);
  const opened = await deps.contents.read(caller, placeOf(record, request), (file) => toSelection(request, reply, file));
  return sendFile(request, reply, opened);
}

async function put(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { contents, snapshot } = deps;
  const maxBytes = Math.min(record.maxBytes, snapshot().configuration.security.maxBodyBytes);
  refuseLargeBody(request.raw, maxBytes);
  const caller = await callerOf(deps, request);
  requireJson(request.raw);
  const body = await readStrictBody(request.raw, maxBytes);
  const place = placeOf(record, request);
  requireWritable(caller, place);
  const condition = await conditionOf(deps, request, place);
  const { bytes: content, value } = body();
  record.check(value);
  const bytes = (async function* () {
    yield content;
  })();
  const upload = { contentType: 'application/json', bytes, announcedBytes: content.length, condition };
  const stored = await contents.put(caller, place, upload);
  reply.header('etag', `"${stored.etag}"`);
  return toMetadata(place, stored);
}

async function remove(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await callerOf(deps, request);
  const place = placeOf(record, request);
  requireWritable(caller, place);
  await deps.contents.delete(caller, place, await conditionOf(deps, request, place));
  reply.code(204);
}

async function conditionOf(
  { contents }: ResourceDeps,
  { headers }: FastifyRequest,
  place: ContentPlace,
): Promise<WriteCondition> {
  return hasCondition(headers) ? toWriteCondition(headers, await contents.current(place)) : undefined;
}

function placeOf({ kind }: RecordKind, { url, method }: FastifyRequest): ContentPlace {
  const encoded = pathBelow(`/v1/${kind}/`, url);
  if (kind === 'conversations' && conversationId.test(encoded))
    throw new ParleyError('route_not_found', 'Nothing is served at this path; /docs lists what is.');
  const place = toPlace(kind, encoded);
  if (place === undefined || isFolder(place)) throw method === 'GET' || method === 'HEAD' ? notFound(kind) : noPlace(kind);
  if (isTooLong(place)) throw pathTooLong();
  return place;
}
