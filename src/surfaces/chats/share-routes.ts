import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { dayMs } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { NewShare } from '#contract/page/stored-chat.ts';
import { createCheck } from '#contract/schemas/compile-shape.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ChatShare, ChatSnapshot, NewShare as NewShareRecord, OpenedShare, ShareStore } from '#domain/chats/chat-share.ts';
import { describeFiles, toChatSnapshot } from '#domain/chats/chat-snapshot.ts';
import type { ChatRef, StoredChat } from '#domain/chats/chat-store.ts';
import { toBucket } from '#domain/files/bucket.ts';
import type { ContentLocation } from '#domain/files/resource-location.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import type { StoredResources } from '#services/files/stored-resources.ts';
import { toWriteCondition } from '../http/conditions.ts';
import { routeNotFound } from '../http/path-methods.ts';
import { readRequest } from '../http/read-request.ts';
import { sendFile } from '../http/replies/send-file.ts';
import { LargeReplies } from '../http/replies/send-json.ts';
import { serveEarly } from '../http/serve-raw.ts';
import { type ChatRoutesDeps, identifySubject, readChatRef, readStoredChat } from './routes.ts';

export interface ShareRoutesDeps extends ChatRoutesDeps {
  readonly shares: ShareStore;
  /** Undefined if no files are stored, so that files cannot be shared. */
  readonly files: StoredResources | undefined;
  readonly newId: () => string;
  /** Returns an unguessable token with 256 random bits. */
  readonly newToken: () => string;
  readonly recordAudit: RecordAudit;
}

const checkNewShare = createCheck(NewShare);
const mebibyte = 1024 ** 2;
const maxSnapshotChars = 8 * mebibyte;
const bounds = { maxPerUser: 200, maxBytesPerUser: 256 * mebibyte };
const maxAttempts = 5;
const defaultDays = 30;
const tokenPattern = /^[\w-]{43}$/;

/** Serves links to snapshots of chats (docs/wire.md, Shared chats). */
export function shareRoutes(app: FastifyInstance, deps: ShareRoutesDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/chats/:chat/shares' }, (request, reply) => share(deps, request, reply));
  app.get('/v1/chats/:chat/shared-files', (request) => listFiles(deps, request));
  app.get('/v1/chat-shares', (request) => list(deps, request));
  serveEarly(app, { method: 'DELETE', url: '/v1/chat-shares/:share' }, (request, reply) => revoke(deps, request, reply));
  const replies = new LargeReplies();
  app.get('/v1/shared-chats/:token', (request, reply) => open(deps, replies, request, reply));
  app.get('/v1/shared-chats/:token/files/:file', (request, reply) => openFile(deps, request, reply));
}

async function share(deps: ShareRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { caller: subject, body } = await readRequest(request, storedEntries.chatShare, () => identifySharer(deps, request));
  const { expiresInDays = defaultDays, deploymentNames = {} } = checkNewShare(body());
  const createdAtMs = deps.clock.epochMs();
  const newShare = { id: deps.newId(), createdAtMs, expiresAtMs: createdAtMs + expiresInDays * dayMs };
  const token = deps.newToken();
  const ref = readChatRef(request, subject);
  const { title, files } = await storeShare(deps, ref, request.headers, {
    ...newShare,
    tokenHash: toHash(token),
    deploymentNames,
  });
  deps.recordAudit({ action: 'chat.shared', subject, object: newShare.id, requestId: request.id });
  reply.code(201);
  return { ...toShareItem({ ...newShare, chat: ref.id, title }), token, files: files.length };
}

/**
 * Stores a snapshot of the chat. Retries if the chat changed meanwhile. Throws `precondition_failed` after 5 attempts, or if the
 * chat does not match `If-Match`.
 */
async function storeShare(
  deps: ShareRoutesDeps,
  ref: ChatRef,
  headers: IncomingHttpHeaders,
  {
    deploymentNames,
    ...newShare
  }: Omit<NewShareRecord, 'snapshot' | 'revision'> & { readonly deploymentNames: Readonly<Record<string, string>> },
) {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const chat = await readStoredChat(deps, ref, 0);
    toWriteCondition(headers, { etag: String(chat.head.revision) });
    const snapshot = withNames(await createSnapshot(deps, ref, chat), deploymentNames);
    if (JSON.stringify(snapshot).length > maxSnapshotChars) throw tooLarge();
    const outcome = await deps.shares.share(ref, { ...newShare, snapshot, revision: chat.head.revision }, bounds);
    if (outcome === 'full') throw tooManyShares();
    if (outcome === 'shared') return snapshot;
  }
  throw new ParleyError('precondition_failed', 'The chat keeps changing. Try again when the answer is complete.');
}

function createSnapshot(deps: ShareRoutesDeps, { subject }: ChatRef, chat: StoredChat): Promise<ChatSnapshot> {
  const owner = toOwner(subject);
  return toChatSnapshot(chat, subject, async (path) => (await deps.files?.find(owner, toFileLocation(subject, path)))?.etag);
}

/** Adds the names of the deployments to the replies. The client sends them, so they reveal only names that the user knows. */
function withNames({ turns, ...snapshot }: ChatSnapshot, names: Readonly<Record<string, string>>): ChatSnapshot {
  const toNamed = (turn: JsonObject): JsonObject => {
    const id = String(turn.deployment);
    return Object.hasOwn(names, id) ? { ...turn, deploymentName: names[id] } : turn;
  };
  return { ...snapshot, turns: turns.map(toNamed) };
}

/** Returns the title and the files that a share of the chat would make readable for users with the link. */
async function listFiles(deps: ShareRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const ref = readChatRef(request, await identifySharer(deps, request));
  const chat = await readStoredChat(deps, ref, 0);
  const snapshot = await createSnapshot(deps, ref, chat);
  return { object: 'list', title: snapshot.title, revision: chat.head.revision, data: describeFiles(snapshot) };
}

async function list(deps: ShareRoutesDeps, request: FastifyRequest): Promise<JsonObject> {
  const subject = await identifySharer(deps, request);
  return { object: 'list', data: (await deps.shares.listShares(subject, deps.clock.epochMs())).map(toShareItem) };
}

async function revoke(deps: ShareRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const subject = await identifySharer(deps, request);
  const { share: id } = request.params as { share: string };
  if (!(await deps.shares.revoke(subject, id, deps.clock.epochMs())))
    throw new ParleyError('share_not_found', 'You have no share with this ID. GET /v1/chat-shares lists your shares.');
  deps.recordAudit({ action: 'chat.share_revoked', subject, object: id, requestId: request.id });
  reply.code(204);
}

async function open(
  deps: ShareRoutesDeps,
  replies: LargeReplies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = await identifySharer(deps, request);
  return replies.send(reader, reply, async () => {
    const { token, opened } = await openShare(deps, request);
    const { subject, createdAtMs, expiresAtMs, snapshot } = opened;
    const { title, deployment, turns } = snapshot;
    reply.header('cache-control', 'private, no-store');
    const visibleTurns = turns.map((turn) => withShareUrls(turn, token));
    return { object: 'shared_chat', from: subject, title, deployment, createdAtMs, expiresAtMs, turns: visibleTurns };
  });
}

/**
 * Sends a shared file. It reads with the rights of the owner, so it serves only files of the snapshot, by their number, and only
 * if the ETag is unchanged.
 */
async function openFile(deps: ShareRoutesDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  await identifySharer(deps, request);
  const { opened } = await openShare(deps, request);
  const { file: index } = request.params as { file: string };
  const shared = /^\d{1,6}$/.test(index) ? opened.snapshot.files[Number(index)] : undefined;
  if (shared === undefined || deps.files === undefined) throw sharedFileNotFound();
  const { subject } = opened;
  const fileLocation = toFileLocation(subject, shared.path);
  if ((await deps.files.find(toOwner(subject), fileLocation)) === undefined) throw sharedFileNotFound();
  const content = await deps.files.openFile(toOwner(subject), fileLocation, (file) => {
    if (file.etag !== shared.etag) throw sharedFileNotFound();
    return request.method === 'HEAD' ? 'none' : 'complete';
  });
  return sendFile(request, reply, content);
}

async function openShare(deps: ShareRoutesDeps, request: FastifyRequest): Promise<{ token: string; opened: OpenedShare }> {
  const { token } = request.params as { token: string };
  const opened = tokenPattern.test(token) ? await deps.shares.openShare(toHash(token), deps.clock.epochMs()) : undefined;
  if (opened === undefined)
    throw new ParleyError(
      'share_not_found',
      'This link no longer works: it was revoked or has expired, or the chat was deleted. Ask the sender for a new link.',
    );
  return { token, opened };
}

/** Returns the user, who may share chats and open shares of other users. Throws for applications, and if sharing is disabled. */
async function identifySharer(deps: ShareRoutesDeps, request: FastifyRequest): Promise<string> {
  const subject = await identifySubject(deps, request);
  if (!deps.snapshot().configuration.page.sharing) throw routeNotFound();
  return subject;
}

/** Replaces the paths of the owner's files in a turn with URLs of the share, so that readers do not see the paths. */
function withShareUrls(turn: JsonObject, token: string): JsonObject {
  const toFileItem = ({ file, ...attachment }: JsonObject): JsonObject =>
    file === undefined ? attachment : { ...attachment, url: `shared-chats/${token}/files/${file}` };
  const toFileItems = ({ attachments }: JsonObject): JsonObject =>
    Array.isArray(attachments) ? { attachments: attachments.map(toFileItem) } : {};
  const { custom } = turn;
  return { ...turn, ...toFileItems(turn), ...(custom !== undefined && { custom: toFileItems(custom as JsonObject) }) };
}

function toShareItem({ id, chat, title, createdAtMs, expiresAtMs }: ChatShare): JsonObject {
  return { id, chat, title, createdAtMs, expiresAtMs };
}

function toFileLocation(subject: string, path: string): ContentLocation {
  return { kind: 'files', bucket: toBucket(subject), path };
}

function toOwner(subject: string): Caller {
  return { subject, project: '', roles: [], chain: null };
}

function toHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

function sharedFileNotFound(): ParleyError {
  return new ParleyError('share_not_found', 'This file is no longer shared, because it was deleted or changed.');
}

function tooLarge(): ParleyError {
  return new ParleyError('payload_too_large', `The chat is too large to share. The limit is ${maxSnapshotChars} characters.`);
}

function tooManyShares(): ParleyError {
  return new ParleyError(
    'payload_too_large',
    `You have reached the limit of ${bounds.maxPerUser} shared chats or ${bounds.maxBytesPerUser} bytes. Revoke a link that you do not need.`,
  );
}
