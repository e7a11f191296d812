import { type HttpClient, HttpFault, type HttpRequest } from '#base/http/client.ts';
import { openReply, readBytes } from '#base/http/read-reply.ts';
import { addQuery } from '#base/url-path.ts';
import { ParleyError } from '#contract/errors.ts';
import type { FeatureAsk, FeatureReply } from '#domain/call.ts';
import { pathTo } from '#domain/callers/chain.ts';
import { handedOn } from '#domain/callers/handed-on.ts';
import { rightsOfReceiver } from '#domain/callers/held-rights.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { RequireConsent } from '#domain/consent/require-consent.ts';
import { toIdFields } from './call-application.ts';
import { ReplyNotes } from './reply-notes.ts';

export interface FeatureDeps {
  readonly http: HttpClient;
  /** Reaches what users say the address of. */
  readonly guarded: HttpClient;
  readonly perRequestKeys: PerRequestKeys;
  readonly requireConsent: RequireConsent;
}

const timeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000 };
const maxBytes = 16 * 1024 * 1024;
/** By HTTP, these have no content. */
const withoutContent: ReadonlySet<number> = new Set([204, 304]);

/** Asks the program that serves a feature of a deployment, with a per-request key that ends with the answer (docs/wire.md, Features). */
export async function askFeature(deps: FeatureDeps, ask: FeatureAsk, signal: AbortSignal): Promise<FeatureReply> {
  const { caller, deployment } = ask;
  await deps.requireConsent(ask);
  const rights = rightsOfReceiver(deployment.id, caller.chain);
  const chain = { path: pathTo(deployment, caller), rights, report() {} };
  const key = await deps.perRequestKeys.issue({ ...caller, chain });
  try {
    return await send(deployment.ownership === null ? deps.http : deps.guarded, toRequest(ask, key), signal);
  } catch (thrown) {
    if (!(thrown instanceof HttpFault)) throw thrown;
    const message = `The program that serves this of ${deployment.id} gave no answer.`;
    throw new ParleyError('upstream_failed', message, { status: 502, cause: thrown });
  } finally {
    await deps.perRequestKeys.revoke(key);
  }
}

function toRequest({ deployment, endpoint, origin, requestId, body }: FeatureAsk, key: string): HttpRequest {
  const { headers, query } = handedOn(origin);
  return {
    method: body === undefined ? 'GET' : 'POST',
    url: addQuery(endpoint, query),
    headers: {
      ...headers,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': body.type }),
      'x-request-id': requestId,
      'api-key': key,
      ...toIdFields(deployment),
    },
    body: body?.bytes ?? null,
    timeouts,
    isOnce: body !== undefined,
  };
}

async function send(http: HttpClient, request: HttpRequest, signal: AbortSignal): Promise<FeatureReply> {
  const reply = await openReply(http, request, signal);
  const notes = new ReplyNotes({});
  notes.tried();
  notes.declare(reply.headers);
  const type = reply.headers['content-type'];
  const bytes = await readBytes(reply, maxBytes);
  const headers = { ...notes.headers, ...(type !== undefined && { 'content-type': type }) };
  return { status: reply.status, headers, bytes: withoutContent.has(reply.status) ? Buffer.alloc(0) : bytes };
}
