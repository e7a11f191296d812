import { basename } from 'node:path';
import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { type ConfigurationError, formatConfigurationError } from '#contract/configuration/checked-configuration.ts';
import type { DependencyEdge, DependencyGraph } from '#domain/consent/dependency-graph.ts';
import { applicationPrefix } from '#domain/deployments/application-location.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { listDeclaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';
import type { LoadBalancer, UpstreamState } from '#domain/upstreams/load-balancer.ts';
import type { UndeliveredAlert } from '#services/alerts/alert-deliveries.ts';
import type { ConfigurationReport } from '#surfaces/admin/node-report.ts';
import type { Reason } from '#surfaces/ops/routes.ts';
import type { SharedStore } from './stores.ts';
import { MissingDocuments, UnusableParts } from './unusable-parts.ts';

export interface NodeStateDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly loadBalancer: LoadBalancer;
  readonly clock: Clock;
}

/** State of a node's stores. */
interface StoresState {
  readonly shared: readonly SharedStore[];
  /** Returns messages about records that are currently lost. */
  readonly losses: () => readonly string[];
  /** Returns whether the node's own database accepts writes. Returns true if the database is shared. */
  readonly isWritable: () => boolean;
  /** Returns whether other nodes store the contents of files in a location that this node does not use. */
  readonly areFilesElsewhere: () => boolean;
}

const maxDangling = 100;
const noStores: StoresState = { shared: [], losses: () => [], isWritable: () => true, areFilesElsewhere: () => false };
const writesRejected: Reason = {
  code: 'writes_refused',
  message:
    'The database in the data folder rejects writes. Calls that store data fail until it accepts them again. Check whether the disk is full.',
};
const filesElsewhere: Reason = {
  code: 'files_elsewhere',
  message:
    'Other nodes store the contents of files in a different location, so this node rejects files. Set the same PARLEY_FILES_URL on every node. The log of this node lists the alternatives.',
};
const filesDiffer: Reason = {
  code: 'configuration_differs',
  message:
    'The configuration files of this node differ from those in effect, which another node read. Copy the same files to every node. The files of this node take effect when they change, or when no running node has the files that are in effect.',
};
/** Maximum number of reasons in the record of a node. */
const maxReported = 100;
const storeNames: Readonly<Record<SharedStore['name'], string>> = { database: 'The shared database', redis: 'Redis' };

/** Operational state of a node for `/health`, `/ready`, and the metrics. */
export class NodeState {
  #isStarted = false;
  #isStopping: () => boolean = () => false;
  #areFilesDifferent: () => boolean = () => false;
  #warnings: readonly ConfigurationError[] = [];
  #errors: readonly ConfigurationError[] = [];
  #loadedAtMs = 0;
  #rejectedAtMs: number | undefined;
  /** Dangling dependencies by the missing id. */
  readonly #dangling = new Map<string, DependencyEdge>();
  readonly #deps: NodeStateDeps;
  #stores = noStores;
  #undeliveredAlerts: readonly UndeliveredAlert[] = [];
  readonly missingDocuments: MissingDocuments;
  readonly unusableParts: UnusableParts;

  constructor(deps: NodeStateDeps) {
    this.#deps = deps;
    this.missingDocuments = new MissingDocuments(deps.snapshot);
    this.unusableParts = new UnusableParts(deps.snapshot);
  }

  /** Marks the node as started. `isStopping` returns whether it is stopping. */
  markStarted(isStopping: () => boolean): void {
    this.#isStarted = true;
    this.#isStopping = isStopping;
  }

  /** Sets the function that returns whether the configuration files in force differ from the files of this node. */
  setFileComparison(areDifferent: () => boolean): void {
    this.#areFilesDifferent = areDifferent;
  }

  setStores(stores: StoresState): void {
    this.#stores = stores;
  }

  readonly setUndeliveredAlerts = (alerts: readonly UndeliveredAlert[]): void => {
    this.#undeliveredAlerts = alerts;
  };

  /** Records the warnings of a configuration that takes effect. */
  recordAcceptedConfiguration(warnings: readonly ConfigurationError[]): void {
    this.#warnings = warnings;
    this.#errors = [];
    this.#loadedAtMs = this.#deps.clock.epochMs();
    this.#rejectedAtMs = undefined;
    for (const [id, edge] of this.#dangling) if (!this.#isStillDangling(edge)) this.#dangling.delete(id);
  }

  /** Records dangling dependencies of a graph, except those that have a configuration warning. Returns the new ones. */
  recordGraph({ deployments, dangling }: DependencyGraph): readonly DependencyEdge[] {
    const unwarned = dangling.filter((edge) => !this.#hasWarning(edge));
    const added = unwarned.filter(({ dependency }) => !this.#dangling.has(dependency));
    const visited = new Set(deployments.map(({ id }) => id));
    for (const [id, { deployment }] of this.#dangling) if (visited.has(deployment) || visited.has(id)) this.#dangling.delete(id);
    for (const edge of unwarned) this.#dangling.set(edge.dependency, edge);
    for (const id of [...this.#dangling.keys()].slice(0, -maxDangling)) this.#dangling.delete(id);
    return added;
  }

  /** Records the errors of a configuration that does not take effect. */
  recordRejectedConfiguration(errors: readonly ConfigurationError[]): void {
    this.#errors = errors;
    this.#rejectedAtMs = this.#deps.clock.epochMs();
  }

  /** Times and errors of the configuration, with complete paths. For administrators only. */
  get configuration(): Omit<ConfigurationReport, 'files'> {
    const refusedAt = this.#rejectedAtMs ?? null;
    return { loadedAt: this.#loadedAtMs, refusedAt, faults: this.#errors, warnings: this.#warnings };
  }

  /** Returns the state of the node for administrators, as JSON. */
  toHealth(): JsonObject {
    const [reasons, obstacles] = [this.listIssues(), this.listObstacles()].map((all) => all.slice(0, maxReported));
    const { loadedAt, refusedAt, faults } = this.configuration;
    return {
      status: reasons?.length === 0 ? 'ok' : 'degraded',
      reasons,
      hindrances: obstacles,
      configuration: { loadedAt, refusedAt, faults: faults.slice(0, maxReported), isDifferent: this.#areFilesDifferent() },
    };
  }

  isUnavailable(name: SharedStore['name']): boolean {
    return this.#stores.shared.some((store) => store.name === name && store.isUnavailable());
  }

  get configurationErrorCount(): number {
    return this.#errors.length;
  }

  /** Number of calls that wait for full upstreams, by deployment. */
  readonly queues = (): Iterable<{ readonly deployment: string; readonly size: number }> =>
    this.#deps.loadBalancer.queue.listSizes();

  /** States of the upstreams in the current configuration. */
  *upstreams(): Iterable<UpstreamState> {
    const { loadBalancer, clock, snapshot } = this.#deps;
    const nowMs = clock.nowMs();
    for (const { upstreams } of snapshot().deployments.values()) {
      for (const upstream of upstreams) yield loadBalancer.getState(upstream, nowMs);
    }
  }

  /** Returns the reasons why the node is degraded although it serves calls. */
  readonly listIssues = (): readonly Reason[] => [
    ...this.#errors.map((error) => ({ code: 'configuration_refused', message: formatPublic(error) })),
    ...this.#warnings
      .filter(({ isNotice }) => isNotice !== true)
      .map((warning) => ({ code: 'configuration_warning', message: formatPublic(warning) })),
    ...(this.#areFilesDifferent() ? [filesDiffer] : []),
    ...this.#listConfiguredDangling().map((edge) => ({ code: 'dependency_missing', message: formatDangling(edge) })),
    ...this.missingDocuments.reasons,
    ...this.unusableParts.reasons,
    ...[...this.upstreams()]
      .filter(({ isPaused }) => isPaused)
      .map(({ id, reason }) => ({ code: 'upstream_off', message: `${id} is paused: ${reason}` })),
    ...[...this.upstreams()].flatMap(({ id, rejectsWith }) => (rejectsWith === undefined ? [] : [toRejection(id, rejectsWith)])),
    ...this.#stores.shared.filter(({ isUnavailable }) => isUnavailable()).map(toOutage),
    ...(this.#stores.isWritable() ? [] : [writesRejected]),
    ...(this.#stores.areFilesElsewhere() ? [filesElsewhere] : []),
    ...this.#undeliveredAlerts.map((alert) => ({ code: 'alert_undelivered', message: formatUndelivered(alert) })),
    ...this.#stores.losses().map((message) => ({ code: 'records_lost', message: `${message}.` })),
  ];

  /** Returns the reasons why the node is not ready to take calls. */
  readonly listObstacles = (): readonly Reason[] => {
    if (this.#isStopping()) return [{ code: 'stopping', message: 'The node is stopping.' }];
    if (!this.#isStarted) return [{ code: 'starting', message: 'The node is starting.' }];
    // A store that fails later does not make the node unready, because other nodes cannot reach it either.
    return this.#stores.shared.filter(({ wasReached }) => !wasReached()).map(toOutage);
  };

  /**
   * Returns the dangling dependencies of configured deployments. Those of saved applications are only logged, because they are
   * the responsibility of their owner.
   */
  #listConfiguredDangling(): readonly DependencyEdge[] {
    return [...this.#dangling.values()].filter((edge) => !isFromUserApplication(edge));
  }

  /** Returns whether the current configuration shows that the dependency still dangles. */
  #isStillDangling(edge: DependencyEdge): boolean {
    const { deployments } = this.#deps.snapshot();
    const deployment = deployments.get(edge.deployment);
    if (deployments.has(edge.dependency) || this.#hasWarning(edge)) return false;
    return deployment === undefined
      ? isFromUserApplication(edge)
      : listDeclaredDependencies(deployment).includes(edge.dependency);
  }

  /**
   * Returns whether the configuration already has a warning for the dependency. It has none for ids of saved applications, and
   * none for dependencies that only a graph walk finds.
   */
  #hasWarning({ deployment, dependency }: DependencyEdge): boolean {
    if (dependency.startsWith('applications/')) return false;
    const configured = this.#deps.snapshot().deployments.get(deployment);
    return configured !== undefined && listDeclaredDependencies(configured).includes(dependency);
  }
}

function isFromUserApplication({ deployment }: DependencyEdge): boolean {
  return deployment.startsWith(applicationPrefix);
}

function toRejection(id: string, status: number): Reason {
  return {
    code: 'upstream_credentials_rejected',
    message: `${id} rejects the credentials of the configuration with ${status}. Check key and headers of this upstream.`,
  };
}

function toOutage({ name }: SharedStore): Reason {
  return {
    code: `${name}_away`,
    message: `${storeNames[name]} is unreachable. Calls that need it fail until it is available again.`,
  };
}

/** Formats an alert for `/health`, which is public: without its limits and its address. */
function formatUndelivered({ index, error, retriesUntilMs }: UndeliveredAlert): string {
  const next =
    retriesUntilMs === undefined
      ? 'Parley has stopped trying.'
      : `Parley tries again until ${new Date(retriesUntilMs).toISOString()}.`;
  return `A webhook of alerts[${index}] could not be delivered: ${error}. ${next} Check url and secret of this alert.`;
}

/** Formats an error for `/health`, which is public: with file names, but without the folders of this machine. */
function formatPublic({ file, ...details }: ConfigurationError): string {
  return formatConfigurationError({
    ...details,
    file: file
      .split(', ')
      .map((path) => basename(path))
      .join(', '),
  });
}

const maxNames = 5;

/** Formats dangling dependencies as one log line with their number and the first five. */
export function formatAllDangling(dangling: readonly DependencyEdge[]): string {
  const [first] = dangling;
  if (first !== undefined && dangling.length === 1) return formatDangling(first);
  const names = dangling.slice(0, maxNames).map((edge) => `${edge.deployment} → ${edge.dependency}`);
  const suffix = dangling.length > maxNames ? ', …' : '';
  return `${dangling.length} dependencies do not exist: ${names.join(', ')}${suffix}`;
}

/** Formats a dangling dependency for the log and `/health`. */
export function formatDangling({ deployment, dependency }: DependencyEdge): string {
  return `${deployment} depends on ${dependency}, which does not exist`;
}
