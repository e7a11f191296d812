import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { findDuplicateKey } from '#base/json/find-duplicate-key.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { isDeploymentId } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import {
  ConversationRecord,
  createParser,
  PermissionListRequest,
  PromptRecord,
  PublicationListRequest,
  parsePermissions,
  RelocationRequest,
  ShareListRequest,
} from '#contract/resource-requests.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';
import { type Grant, maxGrants } from '#domain/callers/held-rights.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import {
  type ContentKind,
  type ContentLocation,
  isFolder,
  isTooLong,
  maxNamedPathBytes,
  parseLocation,
  parseResourceUrl,
  type Relocation,
  type ResourceKind,
  type ResourceLocation,
  resourceKinds,
  toUrl,
} from '#domain/files/resource-location.ts';
import { listPermissions, requireWritable } from '#domain/files/resource-rights.ts';
import type { WriteCondition } from '#domain/files/write-condition.ts';
import { hasCondition, toWriteCondition } from '../../http/conditions.ts';
import { routeNotFound } from '../../http/path-methods.ts';
import type { Query } from '../../http/query.ts';
import { identifyCaller, parseBody, readBody, rejectLargeBody, requireJson } from '../../http/read-request.ts';
import { sendFile, toSelection } from '../../http/replies/send-file.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { invalidPath, notFound, pathTooLong, type ResourceDeps, readMetadata, toMetadata } from './metadata.ts';

/** Maximum size of an operation's body in bytes. If `security.maxBodyBytes` is less, that bound applies. */
const maxOperationBytes = 1024 ** 2;
const maxPathLength = 200;

/** Serves prompts and conversations, and the operations that apply to all kinds of stored items. */
export function resourceRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  recordRoutes(app, deps);
  metadataRoutes(app, deps);
  relocationRoutes(app, deps);
  permissionRoutes(app, deps);
  sharedRoutes(app, deps);
}

/** Serves `/v1/metadata/{kind}/{bucket}/{path}` (docs/wire.md, Files). */
function metadataRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const kind of resourceKinds) {
    const base = `/v1/metadata/${kind}/`;
    app.get(`${base}*`, async (request) => {
      const caller = await identifyCaller(deps, request);
      const encoded = stripPathPrefix(base, request.url);
      return readMetadata(deps, caller, { kind, encoded, query: request.query as Query });
    });
  }
}

type OperationDeps = Pick<ResourceDeps, 'identify' | 'snapshot'>;

const permissionsBase = '/v1/ops/resource/per-request-permissions/';
const parsePermissionList = createParser(PermissionListRequest);

/**
 * Serves `POST /v1/ops/resource/per-request-permissions/grant`, `/revoke`, and `/list`: permissions that an application grants to
 * the deployments that it calls (docs/files.md, Access).
 */
function permissionRoutes(app: FastifyInstance, deps: OperationDeps): void {
  serveEarly(app, { method: 'POST', url: `${permissionsBase}grant` }, async (request) => {
    const { chain, body, caller } = await readGrantOperation(deps, request, parsePermissions);
    const grant = toGrants(caller, body());
    const allGrants = new Set([...chain.rights.granted, ...grant].map(({ receiver, url }) => JSON.stringify([receiver, url])));
    if (allGrants.size > maxGrants)
      throw createRequestError('resourcePermissions', `would exceed the maximum of ${maxGrants} grants in one call`);
    await chain.rights.change({ grant });
  });
  serveEarly(app, { method: 'POST', url: `${permissionsBase}revoke` }, async (request) => {
    const { chain, body } = await readGrantOperation(deps, request, parsePermissions);
    await chain.rights.change({ revoke: toGrants(undefined, body()) });
  });
  serveEarly(app, { method: 'POST', url: `${permissionsBase}list` }, async (request) => {
    const { chain, body } = await readGrantOperation(deps, request, parsePermissionList);
    const { receiver } = body();
    const granted = chain.rights.granted.filter((grant) => receiver === undefined || grant.receiver === receiver);
    return { resourcePermissions: granted };
  });
}

/**
 * Returns an operation with its call chain. Throws `access_denied` without a per-request key, because grants last only for the
 * call of such a key.
 */
async function readGrantOperation<Body>(
  deps: OperationDeps,
  request: FastifyRequest,
  parse: (body: unknown) => Body,
): Promise<RequestedOperation<Body> & { readonly chain: Chain }> {
  const operation = await readOperation(deps, request, parse);
  const { chain } = operation.caller;
  if (chain !== null) return { ...operation, chain };
  throw new ParleyError(
    'access_denied',
    'This requires the per-request key of the call, because permissions are granted for the duration of a call.',
  );
}

/**
 * Returns the grants to store. Throws `access_denied` if `grantor` lacks a permission. Pass undefined to revoke, which needs no
 * check.
 */
function toGrants(
  grantor: Caller | undefined,
  { resourcePermissions, receiver }: ReturnType<typeof parsePermissions>,
): readonly Grant[] {
  if (!isDeploymentId(receiver)) throw createRequestError('receiver', 'must be the ID of a deployment');
  return resourcePermissions.map(({ url, permissions }, index) => {
    const location = parseResourceUrl(url);
    if (location === undefined || isTooLong(location))
      throw createRequestError(`resourcePermissions[${index}].url`, 'must be the URL of a stored item, {kind}/{bucket}/{path}');
    const ownPermissions = grantor === undefined ? permissions : listPermissions(grantor, location);
    const lacking = permissions.find((permission) => !ownPermissions.includes(permission));
    if (lacking !== undefined)
      throw new ParleyError('access_denied', `You cannot grant ${lacking}, because you do not have it on this item.`, {
        param: `resourcePermissions[${index}].url`,
      });
    return { receiver, url: toUrl(location), permissions: [...new Set(permissions)] };
  });
}

/** Prompts and conversations: JSON records, stored exactly as they are sent. */
interface RecordKind {
  readonly kind: 'prompts' | 'conversations';
  /** Maximum size in bytes. If `security.maxBodyBytes` is less, that bound applies. */
  readonly maxBytes: number;
  /** Throws `invalid_request` for an invalid record. */
  readonly check: (body: unknown) => unknown;
}

const recordKinds: readonly RecordKind[] = [
  { kind: 'prompts', maxBytes: storedEntries.prompt.maxBytes, check: createParser(PromptRecord) },
  { kind: 'conversations', maxBytes: storedEntries.conversation.maxBytes, check: createParser(ConversationRecord) },
];

/** Start of the IDs of Responses API conversations, which take the position of the bucket in a path. */
const conversationIdStart = /^conv_/;

/** Serves `/v1/prompts/{bucket}/{path}` and `/v1/conversations/{bucket}/{path}` (docs/wire.md, Files). */
function recordRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const record of recordKinds) {
    const url = `/v1/${record.kind}/*`;
    app.get(url, (request, reply) => get(deps, record, request, reply));
    serveEarly(app, { method: 'PUT', url }, (request, reply) => put(deps, record, request, reply));
    serveEarly(app, { method: 'DELETE', url }, (request, reply) => remove(deps, record, request, reply));
  }
}

async function get(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await identifyCaller(deps, request);
  const opened = await deps.contents.openFile(caller, getLocation(record, request), (file) => toSelection(request, reply, file));
  return sendFile(request, reply, opened);
}

async function put(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { contents, snapshot } = deps;
  const maxBytes = Math.min(record.maxBytes, snapshot().configuration.security.maxBodyBytes);
  const { caller, body } = await readStrictRequest(deps, request, maxBytes);
  const location = getLocation(record, request);
  requireWritable(caller, location);
  const condition = await readCondition(deps, request, location);
  const { bytes: content, value } = body();
  record.check(value);
  const upload = { contentType: 'application/json', bytes: [content], declaredBytes: content.length, condition };
  const stored = await contents.put(caller, location, upload);
  reply.header('etag', `"${stored.etag}"`);
  return toMetadata(location, stored);
}

async function remove(deps: ResourceDeps, record: RecordKind, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const caller = await identifyCaller(deps, request);
  const location = getLocation(record, request);
  requireWritable(caller, location);
  await deps.contents.delete(caller, location, await readCondition(deps, request, location));
  reply.code(204);
}

async function readCondition(
  { contents }: ResourceDeps,
  { headers }: FastifyRequest,
  location: ContentLocation,
): Promise<WriteCondition> {
  return hasCondition(headers) ? toWriteCondition(headers, await contents.findCurrent(location)) : undefined;
}

function getLocation({ kind }: RecordKind, { url, method }: FastifyRequest): ContentLocation {
  const encoded = stripPathPrefix(`/v1/${kind}/`, url);
  if (kind === 'conversations' && conversationIdStart.test(encoded)) throw routeNotFound();
  const location = parseLocation(kind, encoded);
  if (location === undefined || isFolder(location))
    throw method === 'GET' || method === 'HEAD' ? notFound(kind) : invalidPath(kind);
  if (isTooLong(location)) throw pathTooLong();
  return location;
}

/** Serves `POST /v1/ops/resource/move` and `/copy` (docs/wire.md, Files). */
function relocationRoutes(app: FastifyInstance, deps: ResourceDeps): void {
  for (const operation of ['move', 'copy'] as const) {
    serveEarly(app, { method: 'POST', url: `/v1/ops/resource/${operation}` }, async (request) => {
      const { caller, body } = await readOperation(deps, request, parseRelocation);
      const relocation = toRelocation(body());
      if (isContentRelocation(relocation)) await deps.contents[operation](caller, relocation);
      else await deps.applications[operation](caller, relocation, request.id);
    });
  }
}

const parseRelocation = createParser(RelocationRequest);

function toRelocation({ sourceUrl, destinationUrl, overwrite = false }: RelocationRequest): Relocation {
  const from = toItem('sourceUrl', sourceUrl);
  const to = toItem('destinationUrl', destinationUrl);
  if (from.kind !== to.kind) throw createRequestError('destinationUrl', `must have the same kind as sourceUrl (${from.kind})`);
  if (toUrl(from) === toUrl(to)) throw createRequestError('destinationUrl', 'must differ from sourceUrl');
  return { from, to, destinationUrl, replaces: overwrite };
}

function toItem(param: string, url: string): ResourceLocation {
  const location = parseResourceUrl(url);
  if (location === undefined) throw createRequestError(param, 'must be the URL of a stored item, {kind}/{bucket}/{path}');
  if (isFolder(location)) throw createRequestError(param, 'must not be a folder. Move or copy its items one by one');
  if (isTooLong(location)) throw createRequestError(param, `must have a path of at most ${maxNamedPathBytes} bytes in UTF-8`);
  return location;
}

function isContentRelocation(relocation: Relocation<ResourceKind>): relocation is Relocation<ContentKind> {
  return relocation.from.kind !== 'applications';
}

const parseShares = createParser(ShareListRequest);
const parsePublications = createParser(PublicationListRequest);

/**
 * Serves `POST /v1/ops/resource/share/list` and `/v1/ops/publication/list`. Both lists are always empty, because Parley does not
 * support sharing or publishing of stored items.
 */
function sharedRoutes(app: FastifyInstance, deps: OperationDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/ops/resource/share/list' }, async (request) => {
    const { caller, body } = await readOperation(deps, request, parseShares);
    rejectPerRequestKey(caller, 'list shared resources');
    body();
    return { resources: [] };
  });
  serveEarly(app, { method: 'POST', url: '/v1/ops/publication/list' }, async (request) => {
    const { caller, body } = await readOperation(deps, request, parsePublications);
    rejectPerRequestKey(caller, 'list published resources');
    body();
    return { publications: [] };
  });
}

/** JSON body with its original bytes and its parsed value. */
interface StrictBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/**
 * Returns the caller, and a function that parses the body. Throws `payload_too_large`, 401, or `unsupported_media_type`. The function
 * throws `invalid_json`, or `invalid_request` for a duplicate key.
 */
async function readStrictRequest(
  deps: Pick<ResourceDeps, 'identify'>,
  request: FastifyRequest,
  maxBytes: number,
): Promise<RequestedOperation<StrictBody>> {
  rejectLargeBody(request.raw, maxBytes);
  const caller = await identifyCaller(deps, request);
  requireJson(request.raw);
  const bytes = await readBody(request.raw, maxBytes);
  const body = (): StrictBody => {
    // parseBody frees its input, but these bytes are stored, so it gets a copy.
    const value = parseBody(Buffer.from(bytes), { allowsProto: true });
    const duplicate = findDuplicateKey(bytes.toString('utf8'));
    if (duplicate !== undefined)
      throw createRequestError(formatPath(duplicate).slice(0, maxPathLength), 'occurs more than once. Send it once');
    return { bytes, value };
  };
  return { caller, body };
}

/** Caller and body of an operation on stored items. `body` returns the validated body and throws if it is invalid. */
interface RequestedOperation<Body> {
  readonly caller: Caller;
  readonly body: () => Body;
}

/** Reads an operation. Throws `payload_too_large`, 401, or `unsupported_media_type`. */
async function readOperation<Body>(
  deps: OperationDeps,
  request: FastifyRequest,
  parse: (body: unknown) => Body,
): Promise<RequestedOperation<Body>> {
  const maxBytes = Math.min(maxOperationBytes, deps.snapshot().configuration.security.maxBodyBytes);
  const { caller, body } = await readStrictRequest(deps, request, maxBytes);
  return { caller, body: () => parse(body().value) };
}
