/** State of the node that answers, for administrators and auditors. Times are milliseconds since the epoch. */
export interface NodeReport {
  readonly node: {
    /** Version of Parley. */
    readonly version: string;
    /** Version of the runtime. */
    readonly runtime: string;
    readonly startedAt: number;
    readonly now: number;
  };
  readonly health: { readonly status: 'ok' | 'degraded'; readonly reasons: readonly ReportedReason[] };
  /** Why the node is not ready to take calls. Empty if it is ready. */
  readonly hindrances: readonly ReportedReason[];
  readonly stores: readonly StoreReport[];
  readonly upstreams: readonly UpstreamReport[];
  /** Calls that wait because every upstream of their deployment is full. Omits deployments without waiting calls. */
  readonly queues: readonly {
    readonly deployment: string;
    readonly size: number;
    /** Wait of the call that waits longest, in milliseconds. */
    readonly waitTime: number;
  }[];
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
  /** Name of the deployment for users. Null if it has none. */
  readonly displayName: string | null;
  readonly protocol: string;
  /** Scheme, host, and port. The rest of the URL may contain secrets. */
  readonly origin: string | null;
  readonly region: string | null;
  /** Name of the model at the upstream. */
  readonly model: string;
  readonly weight: number;
  readonly tier: number;
  /** Calls in progress, if `maxParallel` is set. */
  readonly parallel: number | null;
  readonly maxParallel: number | null;
  readonly state: 'ok' | 'rate_limited' | 'failing';
  readonly failuresInARow: number;
  /** Status of the last response if it rejected the configured credentials, plan, or rate: 401, 402, 403, or 429. */
  readonly refusedStatus: number | null;
  /** Why the last failed call got no connection or no response, without addresses. */
  readonly lastError: string | null;
  /** Time until which the upstream is paused. Null if it is not paused. */
  readonly offUntil: number | null;
}

export interface ConfigurationReport {
  /** Paths as the operator gave them. Empty for the embedded default. */
  readonly files: readonly string[];
  readonly loadedAt: number;
  /** When changed files were last rejected, if the previous configuration is still in effect. Otherwise null. */
  readonly refusedAt: number | null;
  readonly faults: readonly ReportedIssue[];
  /** Warnings about the configuration in effect. */
  readonly warnings: readonly ReportedIssue[];
}

interface ReportedIssue {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}
