import type { NodeState, Upstream } from './read-operations.ts';

/** Severity of a state. */
export type Severity = 'good' | 'doubtful' | 'bad';

/** An upstream that rejects its key needs attention. A paused or recently failed one may recover automatically. */
export function getSeverity({ state, failuresInARow, refusedStatus }: Upstream): Severity {
  if (refusedStatus !== undefined && refusedStatus !== 429) return 'bad';
  return state !== 'ok' || failuresInARow > 0 || refusedStatus !== undefined ? 'doubtful' : 'good';
}

/** Problems in addition to the reasons that the node reports. */
export interface Issues {
  readonly upstreams: number;
  readonly isConfigurationRejected: boolean;
  readonly severity: Severity;
}

export function findIssues({ upstreams, notReadyReasons, reasons, stores, refusedAtMs }: NodeState): Issues {
  const severities = upstreams.map(getSeverity);
  const count = severities.filter((severity) => severity !== 'good').length;
  const isConfigurationRejected = refusedAtMs !== undefined;
  const isDegraded =
    reasons.length > 0 || count > 0 || isConfigurationRejected || stores.some(({ isUnavailable }) => isUnavailable);
  const otherwise = isDegraded ? 'doubtful' : 'good';
  return { upstreams: count, isConfigurationRejected, severity: notReadyReasons.length > 0 ? 'bad' : otherwise };
}

const ranks: Readonly<Record<Severity, number>> = { bad: 0, doubtful: 1, good: 2 };

/** Sorts upstreams with problems first. A previous order is kept, so that the list does not move while it is read. */
export function sortUpstreams(upstreams: readonly Upstream[], before: readonly string[]): readonly Upstream[] {
  const positions = new Map(before.map((id, index) => [id, index]));
  return upstreams.toSorted((left, right) => {
    const [leftPosition, rightPosition] = [positions.get(left.id), positions.get(right.id)];
    if (leftPosition !== undefined || rightPosition !== undefined)
      return (leftPosition ?? Number.MAX_VALUE) - (rightPosition ?? Number.MAX_VALUE);
    return ranks[getSeverity(left)] - ranks[getSeverity(right)];
  });
}
