import type { IncomingMessage } from 'node:http';
import { type PassThroughApi, type PassThroughTraits, passThrough } from '#contract/pass-through.ts';
import { parsePassThrough } from '#contract/pass-through-requests.ts';
import type { Call, Calls, Target } from '#domain/call.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { PassThroughRequest } from '#domain/upstreams/upstream.ts';
import { toBoundary } from '../http/form/form-reader.ts';
import { parseBody, readModel, refusedType, requirePlain, tooLarge } from '../http/read-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestHandler } from '../http/request-handler.ts';
import { letGo, piecesOf } from '../http/request-pieces.ts';
import { PassedForm } from './passed-form.ts';
import { PassedReply } from './passed-reply.ts';

export interface PassThroughDeps {
  readonly handler: RequestHandler;
  readonly calls: Calls;
  /** Bytes of a whole form. */
  readonly maxFormBytes: () => number;
}

/** How a request names its deployment. */
interface Asked {
  /** Undefined if the body's `model` names it. */
  readonly deployment: string | undefined;
  /** Throws what is wrong with the version in the path. */
  readonly checkVersion: () => void;
}

/** Serves requests of the APIs that are passed through: each is authorized, parsed, and answered. */
export function servePassThrough(deps: PassThroughDeps) {
  return async (context: RequestContext, api: PassThroughApi, asked: Asked): Promise<void> => {
    const asking = { deps, context, api, asked };
    const { target, request } = await (comesAsForm(context.request, passThrough[api]) ? readForm(asking) : readJson(asking));
    const reply = new PassedReply(context);
    context.follow(deps.calls.passThrough(target, request, reply), reply);
  };
}

interface Asking {
  readonly deps: PassThroughDeps;
  readonly context: RequestContext;
  readonly api: PassThroughApi;
  readonly asked: Asked;
}

interface Read {
  readonly target: Target;
  readonly request: PassThroughRequest;
}

/** An API that takes both is asked by the media type. */
function comesAsForm({ headers }: IncomingMessage, { takes }: PassThroughTraits): boolean {
  return takes === 'form' || (takes === 'either' && /^\s*multipart\//i.test(headers['content-type'] ?? ''));
}

/** The body of a request whose path names the deployment is not looked into before the caller may use that. */
async function readJson({ deps: { handler, calls }, context, api, asked }: Asking): Promise<Read> {
  const { caller, bytes } = await handler.authenticate(context);
  const named = asked.deployment === undefined ? parseBody(bytes) : undefined;
  const target = await calls.authorize(toCall(context, caller, asked.deployment ?? readModel(named)), api);
  asked.checkVersion();
  return { target, request: { api, body: parsePassThrough(api, named ?? parseBody(bytes)) } };
}

/** A form is read no further than to its model, and a little ahead. */
async function readForm({ deps, context, api, asked }: Asking): Promise<Read> {
  const { handler, calls } = deps;
  const maxFormBytes = deps.maxFormBytes();
  const { request, response } = context;
  const caller = await handler.identify(context, maxFormBytes);
  const boundary = requireForm(request);
  response.once('finish', () => letGo(request));
  const form = new PassedForm(withinBytes(piecesOf(request), maxFormBytes), boundary, api);
  const target = await calls.authorize(toCall(context, caller, asked.deployment ?? (await form.readModel())), api);
  asked.checkVersion();
  await form.readAhead();
  return { target, request: { api, form, defaults: target.deployment.defaults } };
}

function toCall({ id, record, request }: RequestContext, caller: Caller, deployment: string): Call {
  record.deployment(deployment);
  return { id, deployment, caller, record, origin: request };
}

function requireForm({ headers }: IncomingMessage): string {
  const { 'content-type': type = '' } = headers;
  const boundary = toBoundary(type);
  if (boundary === undefined) throw refusedType('multipart/form-data', type);
  requirePlain(headers);
  return boundary;
}

async function* withinBytes(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield piece;
  }
}
