import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';

export interface Upstream {
  readonly id: string;
  readonly deployment: string;
  readonly protocol: string;
  /** '' where it has no address. */
  readonly origin: string;
  readonly model: string;
  readonly tier: number;
  readonly weight: number;
  readonly state: 'ok' | 'rate_limited' | 'failing';
  readonly failuresInARow: number;
  /** Of its last answer, if that refused the key or the account it is asked with, or was one too many. */
  readonly refusedStatus: number | undefined;
  readonly offUntilMs: number | undefined;
}

export interface ConfigurationFault {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

interface Reason {
  readonly code: string;
  readonly message: string;
}

/** How the node that answered is. */
export interface NodeState {
  readonly version: string;
  readonly runtime: string;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly reasons: readonly Reason[];
  /** Why it takes no calls. */
  readonly hindrances: readonly Reason[];
  readonly stores: readonly { readonly holds: string; readonly kind: string; readonly isAway: boolean }[];
  readonly upstreams: readonly Upstream[];
  readonly files: readonly string[];
  readonly loadedAtMs: number;
  readonly refusedAtMs: number | undefined;
  readonly faults: readonly ConfigurationFault[];
  readonly warnings: readonly ConfigurationFault[];
}

export interface AuditRecord {
  readonly id: string;
  readonly atMs: number;
  readonly action: string;
  /** '' where nobody is known. */
  readonly user: string;
  readonly object: string;
  readonly requestId: string;
  readonly details: JsonObject;
}

export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** For the next page; undefined where none is left. */
  readonly next: string | undefined;
}

/** Throws ServiceFault. */
export async function readState(service: Service, signal: AbortSignal): Promise<NodeState> {
  const body = objectOf(await service.json('v1/admin/state', { signal }));
  const [node, configuration] = [objectOf(body.node), objectOf(body.configuration)];
  return {
    version: text(node.version),
    runtime: text(node.runtime),
    startedAtMs: Number(node.startedAt),
    nowMs: Number(node.now),
    reasons: objects(objectOf(body.health).reasons).map(toReason),
    hindrances: objects(body.hindrances).map(toReason),
    stores: objects(body.stores).map(({ holds, kind, isAway }) => ({
      holds: text(holds),
      kind: text(kind),
      isAway: isAway === true,
    })),
    upstreams: objects(body.upstreams).map(toUpstream),
    files: Array.isArray(configuration.files) ? configuration.files.map(String) : [],
    loadedAtMs: Number(configuration.loadedAt),
    refusedAtMs: number(configuration.refusedAt),
    faults: objects(configuration.faults).map(toFault),
    warnings: objects(configuration.warnings).map(toFault),
  };
}

/** One page of the audit log, the newest first. `kind` '' stands for all. Throws ServiceFault. */
export async function readAudit(
  service: Service,
  { kind, token, limit = 50, signal }: { kind: string; token?: string; limit?: number; signal?: AbortSignal },
): Promise<AuditPage> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(kind !== '' && { kind }),
    ...(token !== undefined && { token }),
  });
  const body = objectOf(await service.json(`v1/admin/audit?${query}`, signal && { signal }));
  return {
    records: objects(body.data).map(({ id, at, action, user, object, requestId, details }) => ({
      ...{ id: text(id), atMs: Number(at), action: text(action), user: text(user) },
      ...{ object: text(object), requestId: text(requestId), details: objectOf(details) },
    })),
    next: typeof body.nextToken === 'string' ? body.nextToken : undefined,
  };
}

function toReason({ code, message }: JsonObject): Reason {
  return { code: text(code), message: text(message) };
}

function toUpstream(item: JsonObject): Upstream {
  const { state } = item;
  return {
    id: text(item.id),
    deployment: text(item.deployment),
    protocol: text(item.protocol),
    origin: text(item.origin),
    model: text(item.model),
    tier: Number(item.tier),
    weight: Number(item.weight),
    state: state === 'rate_limited' || state === 'failing' ? state : 'ok',
    failuresInARow: number(item.failuresInARow) ?? 0,
    refusedStatus: number(item.refusedStatus),
    offUntilMs: number(item.offUntil),
  };
}

function toFault({ file, path, message, hint }: JsonObject): ConfigurationFault {
  return { file: text(file), path: text(path), message: text(message), hint: text(hint) };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
