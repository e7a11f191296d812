/** What holders of the role `admin` are shown of the node that answers them. Times are milliseconds since the epoch. */
export interface NodeReport {
  readonly node: {
    /** Of the program. */
    readonly version: string;
    /** Of the runtime. */
    readonly runtime: string;
    readonly startedAt: number;
    readonly now: number;
  };
  readonly health: { readonly status: 'ok' | 'degraded'; readonly reasons: readonly ReportedReason[] };
  /** Why the node takes no calls now; none: it does. */
  readonly hindrances: readonly ReportedReason[];
  readonly stores: readonly StoreReport[];
  readonly upstreams: readonly UpstreamReport[];
  readonly configuration: ConfigurationReport;
}

interface ReportedReason {
  readonly code: string;
  readonly message: string;
}

export interface StoreReport {
  readonly holds: 'records' | 'files' | 'limits';
  readonly kind: 'sqlite' | 'postgres' | 'disk' | 's3' | 'memory' | 'redis';
  readonly isAway: boolean;
}

export interface UpstreamReport {
  readonly id: string;
  readonly deployment: string;
  readonly protocol: string;
  /** Scheme, host and port: what else an address has may be secret. */
  readonly origin: string | null;
  readonly region: string | null;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly weight: number;
  readonly tier: number;
  readonly state: 'ok' | 'rate_limited' | 'failing';
  readonly failuresInARow: number;
  /** Of its last answer, if that refused what the service is configured with: 401, 402, 403 or 429. */
  readonly refusedStatus: number | null;
  /** Why the last failed call found no connection or no answer, without addresses. */
  readonly lastError: string | null;
  /** Not asked before; null where it is asked. */
  readonly offUntil: number | null;
}

export interface ConfigurationReport {
  /** As they were named; none: the embedded default. */
  readonly files: readonly string[];
  readonly loadedAt: number;
  /** When changed files were refused last, if the ones before are still in force; else null. */
  readonly refusedAt: number | null;
  readonly faults: readonly ReportedIssue[];
  /** Doubts about what is in force. */
  readonly warnings: readonly ReportedIssue[];
}

interface ReportedIssue {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}
