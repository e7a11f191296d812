import type { HttpClient, HttpRequest } from '#base/http/client.ts';
import { openReply, readBytes } from '#base/http/read-reply.ts';
import { addQuery } from '#base/http/url-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { buildPath } from '#domain/callers/call-chain.ts';
import { getForwardedFields } from '#domain/callers/forwarded-fields.ts';
import { createReceiverRights } from '#domain/callers/held-rights.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { FeatureReply, FeatureRequest } from '#domain/calls/call.ts';
import type { RequireConsent } from '#domain/consent/consent.ts';
import { toLimitAccount } from '#domain/limits/limit-counters.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toEarlyError } from '#upstreams/to-upstream-error.ts';
import { toIdFields } from './call-application.ts';
import { selectReplyHeaders } from './reply-headers.ts';
import type { ReserveQuota } from './reserve-quota.ts';

/** Dependencies of `callFeature`. */
export interface FeatureDeps {
  readonly http: HttpClient;
  /** HTTP client for addresses from users. It reaches private networks only if the configuration allows them. */
  readonly guardedHttp: HttpClient;
  readonly perRequestKeys: PerRequestKeys;
  readonly requireConsent: RequireConsent;
  readonly reserveQuota: ReserveQuota;
}

const timeouts = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 120_000 };
const maxBytes = 16 * 1024 * 1024;
/** HTTP statuses of responses without a body. */
const bodilessStatuses: ReadonlySet<number> = new Set([204, 304]);

/**
 * Calls the feature endpoint of a deployment (docs/write-an-application.md, Feature endpoints). The endpoint of a configured
 * deployment, or of the caller's own application, receives a per-request key that is valid until the response. The endpoint of
 * another user's application receives no key, because it may be called before the caller has sent a message. Calls to saved
 * applications count as requests of the caller.
 */
export async function callFeature(deps: FeatureDeps, request: FeatureRequest, signal: AbortSignal): Promise<FeatureReply> {
  const { caller, deployment } = request;
  const { ownership } = deployment;
  await deps.requireConsent(request);
  if (ownership !== null) await countRequest(deps, request, signal);
  const key = ownership === null || ownership.owner === caller.subject ? await issueKey(deps, request) : undefined;
  try {
    return await send(ownership === null ? deps.http : deps.guardedHttp, request, key, signal);
  } catch (error) {
    const upstreamError = toEarlyError(error);
    if (!(upstreamError instanceof UpstreamError)) throw error;
    const message = `The endpoint for this feature of ${deployment.id} failed. ${upstreamError.message}`;
    throw new ParleyError('upstream_failed', message, { status: 502, cause: error });
  } finally {
    if (key !== undefined) await deps.perRequestKeys.revoke(key);
  }
}

/** Counts a request toward the caller's limits. Rejects like `ReserveQuota`. */
async function countRequest({ reserveQuota }: FeatureDeps, request: FeatureRequest, signal: AbortSignal): Promise<void> {
  const { caller, deployment, snapshot } = request;
  const limits = snapshot.limits.find(caller, deployment.id).filter(({ window }) => window.kind === 'requests');
  const limitAccount = toLimitAccount(caller.subject, deployment.id, limits);
  const size = { promptTokens: 0, maxTokens: 0, isClientConnected: () => !signal.aborted };
  const { settle } = await reserveQuota({ call: { caller }, deployment, limitAccount, snapshot }, size);
  settle?.(undefined);
}

function issueKey({ perRequestKeys }: FeatureDeps, { caller, deployment }: FeatureRequest): Promise<string> {
  const rights = createReceiverRights(deployment.id, caller.chain);
  const chain = { path: buildPath(deployment, caller), rights, report() {} };
  return perRequestKeys.issue({ ...caller, chain });
}

function toRequest({ deployment, endpoint, origin, requestId, body }: FeatureRequest, key: string | undefined): HttpRequest {
  const { headers, query } = getForwardedFields(origin, deployment);
  return {
    method: body === undefined ? 'GET' : 'POST',
    url: addQuery(endpoint, query),
    headers: {
      ...headers,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': body.type }),
      'x-request-id': requestId,
      ...(key !== undefined && { 'api-key': key }),
      ...toIdFields(deployment),
    },
    body: body?.bytes ?? null,
    timeouts,
    isNotRepeatable: body !== undefined,
  };
}

async function send(
  http: HttpClient,
  request: FeatureRequest,
  key: string | undefined,
  signal: AbortSignal,
): Promise<FeatureReply> {
  const reply = await openReply(http, toRequest(request, key), signal);
  const replyHeaders = request.deployment.ownership === null ? selectReplyHeaders(reply.headers) : {};
  const type = reply.headers['content-type'];
  const bytes = await readBytes(reply, maxBytes);
  const headers = { ...replyHeaders, 'x-upstream-attempts': '1', ...(type !== undefined && { 'content-type': type }) };
  return { status: reply.status, headers, bytes: bodilessStatuses.has(reply.status) ? Buffer.alloc(0) : bytes };
}
