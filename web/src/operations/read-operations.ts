import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';

export interface Upstream {
  readonly id: string;
  readonly deployment: string;
  /** Name of the deployment. Undefined if it has none. */
  readonly displayName: string | undefined;
  readonly protocol: string;
  /** '' if it has no address. */
  readonly origin: string;
  readonly model: string;
  readonly tier: number;
  readonly weight: number;
  readonly state: 'ok' | 'rate_limited' | 'failing';
  readonly failuresInARow: number;
  /** Status of the last response if it rejected the key or the account, or was a rate limit. */
  readonly refusedStatus: number | undefined;
  readonly offUntilMs: number | undefined;
  /** Calls in progress. Undefined if their number is not limited. */
  readonly parallel: number | undefined;
  readonly maxParallel: number | undefined;
  /** Calls that wait for an upstream of the deployment. */
  readonly waiting: number;
}

export interface ConfigurationIssue {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

interface Reason {
  readonly code: string;
  readonly message: string;
}

/** State of the node that responded. */
export interface NodeState {
  readonly version: string;
  readonly runtime: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly reasons: readonly Reason[];
  /** Why it does not accept calls. */
  readonly notReadyReasons: readonly Reason[];
  readonly stores: readonly { readonly holds: string; readonly kind: string; readonly isUnavailable: boolean }[];
  readonly upstreams: readonly Upstream[];
  readonly files: readonly string[];
  readonly loadedAtMs: number;
  readonly refusedAtMs: number | undefined;
  readonly errors: readonly ConfigurationIssue[];
  readonly warnings: readonly ConfigurationIssue[];
}

export interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly action: string;
  /** '' if unknown. */
  readonly user: string;
  readonly object: string;
  readonly requestId: string;
  readonly details: JsonObject;
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

/** Throws `ServiceError`. */
export async function readState(service: Service, signal: AbortSignal): Promise<NodeState> {
  const body = toObject(await service.json('v1/admin/state', { signal }));
  const [node, configuration] = [toObject(body.node), toObject(body.configuration)];
  return {
    version: toText(node.version),
    runtime: toText(node.runtime),
    startedAtMs: Number(node.startedAt),
    nowMs: Number(node.now),
    reasons: toObjects(toObject(body.health).reasons).map(toReason),
    notReadyReasons: toObjects(body.hindrances).map(toReason),
    stores: toObjects(body.stores).map(({ holds, kind, isAway }) => ({
      holds: toText(holds),
      kind: toText(kind),
      isUnavailable: isAway === true,
    })),
    upstreams: toObjects(body.upstreams).map((item) => toUpstream(item, toObjects(body.queues))),
    files: Array.isArray(configuration.files) ? configuration.files.map(String) : [],
    loadedAtMs: Number(configuration.loadedAt),
    refusedAtMs: toNumber(configuration.refusedAt),
    errors: toObjects(configuration.faults).map(toIssue),
    warnings: toObjects(configuration.warnings).map(toIssue),
  };
}

/** Loads one page of the audit log, the newest first. `kind` '' means all. Throws `ServiceError`. */
export async function readAudit(
  service: Service,
  { kind, token, limit = 50, signal }: { kind: string; token?: string; limit?: number; signal?: AbortSignal },
): Promise<AuditPage> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(kind !== '' && { kind }),
    ...(token !== undefined && { token }),
  });
  const body = toObject(await service.json(`v1/admin/audit?${query}`, signal && { signal }));
  return {
    records: toObjects(body.data).map(({ id, at, action, user, object, requestId, details }) => ({
      ...{ id: toText(id), atMs: Number(at), action: toText(action), user: toText(user) },
      ...{ object: toText(object), requestId: toText(requestId), details: toObject(details) },
    })),
    next: typeof body.nextToken === 'string' ? body.nextToken : undefined,
  };
}

function toReason({ code, message }: JsonObject): Reason {
  return { code: toText(code), message: toText(message) };
}

function toUpstream(item: JsonObject, queues: readonly JsonObject[]): Upstream {
  const { state } = item;
  return {
    id: toText(item.id),
    deployment: toText(item.deployment),
    displayName: toText(item.displayName) || undefined,
    protocol: toText(item.protocol),
    origin: toText(item.origin),
    model: toText(item.model),
    tier: Number(item.tier),
    weight: Number(item.weight),
    state: state === 'rate_limited' || state === 'failing' ? state : 'ok',
    failuresInARow: toNumber(item.failuresInARow) ?? 0,
    refusedStatus: toNumber(item.refusedStatus),
    offUntilMs: toNumber(item.offUntil),
    parallel: toNumber(item.parallel),
    maxParallel: toNumber(item.maxParallel),
    waiting: toNumber(queues.find(({ deployment }) => deployment === item.deployment)?.size) ?? 0,
  };
}

function toIssue({ file, path, message, hint }: JsonObject): ConfigurationIssue {
  return { file: toText(file), path: toText(path), message: toText(message), hint: toText(hint) };
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function toObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
