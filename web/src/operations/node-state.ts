import { filterObjects, type JsonObject, toNumber, toObject, toText } from '#base/json/json.ts';
import type { Service } from '../service/service.ts';

/** An upstream with its current state on the node that responds. */
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
  readonly rejectedStatus: number | undefined;
  readonly pausedUntilMs: number | undefined;
  /** Calls in progress. Undefined if their number is not limited. */
  readonly parallel: number | undefined;
  readonly maxParallel: number | undefined;
  /** Calls that wait for an upstream of the deployment. */
  readonly waiting: number;
  /** Wait of the call that waits longest. */
  readonly waitTimeMs: number;
}

/** An error or a warning of the configuration. */
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
  /** Why the node does not accept calls. */
  readonly notReadyReasons: readonly Reason[];
  readonly stores: readonly { readonly content: string; readonly kind: string; readonly isUnavailable: boolean }[];
  readonly upstreams: readonly Upstream[];
  readonly files: readonly string[];
  readonly loadedAtMs: number;
  readonly rejectedAtMs: number | undefined;
  readonly errors: readonly ConfigurationIssue[];
  readonly warnings: readonly ConfigurationIssue[];
}

/** Loads the state of the node that responds. Throws `ServiceError`. */
export async function readState(service: Service, signal: AbortSignal): Promise<NodeState> {
  const body = toObject(await service.json('v1/admin/state', { signal }));
  const [node, configuration] = [toObject(body.node), toObject(body.configuration)];
  return {
    version: toText(node.version),
    runtime: toText(node.runtime),
    startedAtMs: Number(node.startedAt),
    nowMs: Number(node.now),
    reasons: filterObjects(toObject(body.health).reasons).map(toReason),
    notReadyReasons: filterObjects(body.hindrances).map(toReason),
    stores: filterObjects(body.stores).map(({ holds, kind, isAway }) => ({
      content: toText(holds),
      kind: toText(kind),
      isUnavailable: isAway === true,
    })),
    upstreams: filterObjects(body.upstreams).map((item) => toUpstream(item, filterObjects(body.queues))),
    files: Array.isArray(configuration.files) ? configuration.files.map(String) : [],
    loadedAtMs: Number(configuration.loadedAt),
    rejectedAtMs: toNumber(configuration.refusedAt),
    errors: filterObjects(configuration.faults).map(toIssue),
    warnings: filterObjects(configuration.warnings).map(toIssue),
  };
}

function toReason({ code, message }: JsonObject): Reason {
  return { code: toText(code), message: toText(message) };
}

function toUpstream(item: JsonObject, queues: readonly JsonObject[]): Upstream {
  const { state } = item;
  const queue = queues.find(({ deployment }) => deployment === item.deployment);
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
    rejectedStatus: toNumber(item.refusedStatus),
    pausedUntilMs: toNumber(item.offUntil),
    parallel: toNumber(item.parallel),
    maxParallel: toNumber(item.maxParallel),
    waiting: toNumber(queue?.size) ?? 0,
    waitTimeMs: toNumber(queue?.waitTime) ?? 0,
  };
}

function toIssue({ file, path, message, hint }: JsonObject): ConfigurationIssue {
  return { file: toText(file), path: toText(path), message: toText(message), hint: toText(hint) };
}

/** Severity of the state of an upstream or a node. */
export type Severity = 'good' | 'warning' | 'bad';

/** Returns `bad` for an upstream that rejects its key, and `warning` for a paused or recently failed one, which can recover. */
export function getSeverity({ state, failuresInARow, rejectedStatus }: Upstream): Severity {
  if (rejectedStatus !== undefined && rejectedStatus !== 429) return 'bad';
  return state !== 'ok' || failuresInARow > 0 || rejectedStatus !== undefined ? 'warning' : 'good';
}

/** Problems that the node does not report as reasons, and the severity of all problems. */
export interface Issues {
  readonly upstreamCount: number;
  readonly isConfigurationRejected: boolean;
  readonly severity: Severity;
}

export function findIssues({ upstreams, notReadyReasons, reasons, stores, rejectedAtMs }: NodeState): Issues {
  const severities = upstreams.map(getSeverity);
  const upstreamCount = severities.filter((severity) => severity !== 'good').length;
  const isConfigurationRejected = rejectedAtMs !== undefined;
  const isDegraded =
    reasons.length > 0 || upstreamCount > 0 || isConfigurationRejected || stores.some(({ isUnavailable }) => isUnavailable);
  const severity = notReadyReasons.length > 0 ? 'bad' : isDegraded ? 'warning' : 'good';
  return { upstreamCount, isConfigurationRejected, severity };
}

const ranks: Readonly<Record<Severity, number>> = { bad: 0, warning: 1, good: 2 };

/** Sorts upstreams with problems first. Upstreams in `previousIds` keep that order, so that the list does not move. */
export function sortUpstreams(upstreams: readonly Upstream[], previousIds: readonly string[]): readonly Upstream[] {
  const positions = new Map(previousIds.map((id, index) => [id, index]));
  return upstreams.toSorted((left, right) => {
    const [leftPosition, rightPosition] = [positions.get(left.id), positions.get(right.id)];
    if (leftPosition !== undefined || rightPosition !== undefined)
      return (leftPosition ?? Number.MAX_VALUE) - (rightPosition ?? Number.MAX_VALUE);
    return ranks[getSeverity(left)] - ranks[getSeverity(right)];
  });
}
