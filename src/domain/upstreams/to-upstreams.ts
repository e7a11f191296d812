import { hash } from 'node:crypto';
import { Secret } from '#base/secrets/secret.ts';
import type { ApplicationEntry, ModelEntry, UpstreamEntry } from '#contract/configuration/deployments.ts';
import { getProtocol, protocols } from '#contract/configuration/protocols.ts';
import { isHeaderValue } from '#contract/configuration/values.ts';
import type { Upstream, UpstreamApi } from './upstream.ts';

const applicationTimeouts = { connectMs: 10_000, firstByteMs: 300_000, idleMs: 300_000 };

/** Returns the upstreams of a model. */
export function toUpstreams(id: string, entry: ModelEntry): Upstream[] {
  const revision = toDigest({ ...entry, upstreams: entry.upstreams.map(({ key: _key, ...otherFields }) => otherFields) });
  const counts = new Map<string, number>();
  return entry.upstreams.map((upstreamEntry) => {
    const protocol = getProtocol(upstreamEntry, entry);
    const base = toUpstream(id, { ...upstreamEntry, protocol });
    // Upstreams may differ only in their keys.
    const count = (counts.get(base.id) ?? 0) + 1;
    counts.set(base.id, count);
    const upstreamWithId = count === 1 ? base : { ...base, id: `${base.id}.${count}` };
    const upstream = protocols[protocol].usesModelEndpoint
      ? { ...upstreamWithId, ...toAdapterFields(upstreamEntry, entry) }
      : upstreamWithId;
    return { ...upstream, revision: `${upstreamWithId.id}.${revision}` };
  });
}

type ResolvedUpstreamEntry = UpstreamEntry & { readonly protocol: NonNullable<UpstreamEntry['protocol']> };

/** Returns the endpoint and headers of a model adapter. The headers describe the upstream, and only the adapter receives them. */
function toAdapterFields(
  { endpoint, key, extraData, headers }: UpstreamEntry,
  model: ModelEntry,
): Pick<Upstream, 'endpoint' | 'key' | 'headers'> {
  const extra = typeof extraData === 'object' ? toAsciiJson(extraData) : extraData;
  return {
    endpoint: model.endpoint === undefined ? undefined : new URL(model.endpoint),
    key: undefined,
    headers: {
      ...headers,
      ...(endpoint !== undefined && { 'X-UPSTREAM-ENDPOINT': isHeaderValue(endpoint) ? endpoint : new URL(endpoint).href }),
      ...(key !== undefined && { 'X-UPSTREAM-KEY': key }),
      ...(extra !== undefined && { 'X-UPSTREAM-EXTRA-DATA': extra }),
    },
  };
}

function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function toUpstream(model: string, entry: ResolvedUpstreamEntry): Omit<Upstream, 'revision'> {
  const parts = [entry.protocol, entry.endpoint, entry.region, entry.model];
  return {
    id: createUpstreamId(model, entry.extraData === undefined ? parts : [...parts, JSON.stringify(entry.extraData)]),
    protocol: entry.protocol,
    endpoint: entry.endpoint === undefined ? undefined : new URL(entry.endpoint),
    apiVersion: entry.apiVersion,
    ...(entry.api !== 'chat' && { apis: toApis(entry.api) }),
    region: entry.region,
    key: entry.key === undefined ? undefined : new Secret(entry.key),
    model: entry.model ?? model,
    headers: entry.headers,
    ...(entry.unsupportedFields.length > 0 && { unsupportedFields: entry.unsupportedFields }),
    ...(entry.acceptsReasoning !== undefined && { acceptsReasoning: entry.acceptsReasoning }),
    ...(!entry.foldSystemMessages && { preservesSystemMessages: true }),
    weight: entry.weight,
    tier: entry.tier,
    ...(entry.maxParallel !== undefined && { maxParallel: entry.maxParallel }),
    timeouts: entry.timeouts,
  };
}

function toApis(api: UpstreamEntry['api']): readonly UpstreamApi[] {
  if (api === 'both') return ['chat', 'responses'];
  return typeof api === 'string' ? [api] : api;
}

/** Returns the upstream of an application with its own endpoint. */
export function toApplicationUpstream(
  application: string,
  entry: ApplicationEntry,
  endpoint: string,
  isGuarded: boolean,
): Upstream {
  const id = createUpstreamId(application, [endpoint]);
  return {
    id,
    revision: `${id}.${toDigest(entry)}`,
    protocol: 'application',
    endpoint: new URL(endpoint),
    apiVersion: undefined,
    region: undefined,
    key: undefined,
    model: application,
    headers: {},
    weight: 1,
    tier: 0,
    timeouts: applicationTimeouts,
    isGuarded,
  };
}

/**
 * Creates an upstream ID from the deployment ID and a digest of `parts`. The parts exclude the key, so that a new key does not
 * affect metrics and sticky routing.
 */
function createUpstreamId(deployment: string, parts: readonly (string | undefined)[]): string {
  return `${deployment}#${toDigest(parts)}`;
}

function toDigest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex').slice(0, 8);
}
