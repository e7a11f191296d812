import type { FastifyInstance } from 'fastify';
import { stripPathPrefix } from '#base/http/url-path.ts';
import { isJsonObject } from '#base/json/json.ts';
import { parseChatRequest } from '#contract/chat/chat-request.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Calls } from '#domain/calls/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { modelErrorDialect } from '../http/error-dialect.ts';
import { bodyTooLarge, parseBody } from '../http/read-request.ts';
import { StreamedReply } from '../http/replies/streamed-reply.ts';
import type { Exchange } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { serveRaw } from '../http/serve-raw.ts';
import { chunkWriter, JsonReply } from './replies.ts';

export interface DraftDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Returns the deployment of an unsaved application. `path` is the encoded `{bucket}/{path}`. */
  readonly readDraft: (draft: { caller: Caller; path: string; application: unknown }) => Promise<Deployment>;
}

const base = '/v1/drafts/applications/';
/** Maximum number of bytes of a body: an application with a long conversation. `security.maxBodyBytes` applies if it is smaller. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Serves `/v1/drafts/applications/{bucket}/{path}`: answers a chat completion with an unsaved application of the caller
 * (docs/wire.md, Applications).
 */
export function draftRoutes(app: FastifyInstance, deps: DraftDeps): void {
  const options = {
    operation: 'chat',
    route: `${base}{bucket}/{path}`,
    errorDialect: modelErrorDialect,
    maxBodyBytes: () => maxBytes,
  } as const;
  serveRaw(app, 'POST', `${base}*`, (raw) => deps.handler.serve(options, raw, (exchange) => answer(deps, exchange)));
}

async function answer({ handler, calls, readDraft }: DraftDeps, { context, caller }: Exchange): Promise<void> {
  const bytes = await handler.readJson({ context, caller });
  if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
  const body = parseBody(bytes);
  if (!isJsonObject(body)) throw createRequestError('', 'must be an object with application and request');
  const { id, record, request: origin } = context;
  const draft = await readDraft({ caller, path: stripPathPrefix(base, origin.url ?? ''), application: body.application });
  record.setDeployment(draft.id);
  const wantsTrace = origin.headers['x-parley-trace'] === 'true';
  const target = await calls.authorize({ id, deployment: draft.id, draft, caller, record, origin, wantsTrace }, 'chat');
  const request = parseChatRequest(body.request);
  const reply = request.stream === true ? new StreamedReply(context, chunkWriter) : new JsonReply(context);
  await context.awaitReply(calls.answer(target, { request, includesCost: context.wantsCost }, reply), reply);
}
