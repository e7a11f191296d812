import { basename } from 'node:path';
import type { Clock } from '#base/time/clock.ts';
import { type ConfigurationError, formatConfigurationError } from '#configuration/configuration-error.ts';
import type { Dangling, DependencyGraph } from '#domain/consent/dependency-graph.ts';
import { applicationPrefix } from '#domain/deployments/application-location.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { listDeclaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';
import type { LoadBalancer, UpstreamState } from '#domain/upstreams/load-balancer.ts';
import type { ConfigurationReport } from '#surfaces/admin/node-report.ts';
import type { Reason } from '#surfaces/ops/routes.ts';
import type { SharedStore } from './stores.ts';
import { MissingDocuments, UnusableParts } from './unusable-parts.ts';

export interface NodeStateDeps {
  readonly snapshot: () => ConfigSnapshot;
  readonly loadBalancer: LoadBalancer;
  readonly clock: Clock;
}

/** What a node knows of where its state rests. */
interface StoresState {
  readonly shared: readonly SharedStore[];
  /** What is being lost at the moment, in words. */
  readonly losses: () => readonly string[];
  /** Whether the database of this node, if it has its own, can be written. */
  readonly isWritable: () => boolean;
  /** Whether the contents of files lie where other nodes have them, and this one has not. */
  readonly areFilesElsewhere: () => boolean;
}

const maxDangling = 100;
const noStores: StoresState = { shared: [], losses: () => [], isWritable: () => true, areFilesElsewhere: () => false };
const writesRefused: Reason = {
  code: 'writes_refused',
  message:
    'The database in the data folder takes no writes: calls that keep something are refused until it does. Is the disk full?',
};
const filesElsewhere: Reason = {
  code: 'files_elsewhere',
  message:
    'The contents of files lie where other nodes keep them and this one does not: files are refused here. Give every node the same PARLEY_FILES_URL; the log of this node says what else can be done.',
};
const storeNames: Readonly<Record<SharedStore['name'], string>> = { database: 'The shared database', redis: 'Redis' };

/** What an operator should know of a node: for `/health`, `/ready` and the metrics. */
export class NodeState {
  #isStarted = false;
  #isStopping: () => boolean = () => false;
  #warnings: readonly ConfigurationError[] = [];
  #faults: readonly ConfigurationError[] = [];
  #loadedAtMs = 0;
  #refusedAtMs: number | undefined;
  /** By the id that is missing. */
  readonly #dangling = new Map<string, Dangling>();
  readonly #parts: NodeStateDeps;
  #stores = noStores;
  readonly documents: MissingDocuments;
  readonly unusable: UnusableParts;

  constructor(parts: NodeStateDeps) {
    this.#parts = parts;
    this.documents = new MissingDocuments(parts.snapshot);
    this.unusable = new UnusableParts(parts.snapshot);
  }

  started(isStopping: () => boolean): void {
    this.#isStarted = true;
    this.#isStopping = isStopping;
  }

  storesOpened(stores: StoresState): void {
    this.#stores = stores;
  }

  configurationAccepted(warnings: readonly ConfigurationError[]): void {
    this.#warnings = warnings;
    this.#faults = [];
    this.#loadedAtMs = this.#parts.clock.epochMs();
    this.#refusedAtMs = undefined;
    for (const [id, edge] of this.#dangling) if (!this.#isStillNamed(edge)) this.#dangling.delete(id);
  }

  /** Notes what dangles in a graph, but for what a warning of the configuration says already; gives what was not known yet. */
  graphWalked({ deployments, dangling }: DependencyGraph): readonly Dangling[] {
    const unwarned = dangling.filter((edge) => !this.#hasWarning(edge));
    const added = unwarned.filter(({ dependency }) => !this.#dangling.has(dependency));
    const walked = new Set(deployments.map(({ id }) => id));
    for (const [id, { deployment }] of this.#dangling) if (walked.has(deployment) || walked.has(id)) this.#dangling.delete(id);
    for (const edge of unwarned) this.#dangling.set(edge.dependency, edge);
    for (const id of [...this.#dangling.keys()].slice(0, -maxDangling)) this.#dangling.delete(id);
    return added;
  }

  configurationRefused(faults: readonly ConfigurationError[]): void {
    this.#faults = faults;
    this.#refusedAtMs = this.#parts.clock.epochMs();
  }

  /** What is in force since when, and what was refused since, for those who may see everything of it. */
  get configuration(): Omit<ConfigurationReport, 'files'> {
    const refusedAt = this.#refusedAtMs ?? null;
    return { loadedAt: this.#loadedAtMs, refusedAt, faults: this.#faults, warnings: this.#warnings };
  }

  isAway(name: SharedStore['name']): boolean {
    return this.#stores.shared.some((store) => store.name === name && store.isAway());
  }

  get configurationFaults(): number {
    return this.#faults.length;
  }

  /** Upstreams of the configuration in force. */
  *upstreams(): Iterable<UpstreamState> {
    const { loadBalancer, clock, snapshot } = this.#parts;
    const nowMs = clock.nowMs();
    for (const { upstreams } of snapshot().deployments.values()) {
      for (const upstream of upstreams) yield loadBalancer.getState(upstream, nowMs);
    }
  }

  /** What is wrong while the node still serves. */
  readonly listIssues = (): readonly Reason[] => [
    ...this.#faults.map((error) => ({ code: 'configuration_refused', message: formatPublic(error) })),
    ...this.#warnings
      .filter(({ isNotice }) => isNotice !== true)
      .map((warning) => ({ code: 'configuration_warning', message: formatPublic(warning) })),
    ...this.#danglingOfConfiguration().map((edge) => ({ code: 'dependency_missing', message: formatDangling(edge) })),
    ...this.documents.reasons,
    ...this.unusable.reasons,
    ...[...this.upstreams()]
      .filter(({ off }) => off)
      .map(({ id, reason }) => ({ code: 'upstream_off', message: `${id} is left alone: ${reason}` })),
    ...[...this.upstreams()].flatMap(({ id, rejectsWith }) => (rejectsWith === undefined ? [] : [toRejection(id, rejectsWith)])),
    ...this.#stores.shared.filter(({ isAway }) => isAway()).map(toAbsence),
    ...(this.#stores.isWritable() ? [] : [writesRefused]),
    ...(this.#stores.areFilesElsewhere() ? [filesElsewhere] : []),
    ...this.#stores.losses().map((message) => ({ code: 'records_lost', message: `${message}.` })),
  ];

  /** Why the node takes no calls now. */
  readonly listObstacles = (): readonly Reason[] => {
    if (this.#isStopping()) return [{ code: 'stopping', message: 'The node is stopping.' }];
    if (!this.#isStarted) return [{ code: 'starting', message: 'The node is starting.' }];
    // An outage later on leaves the node ready: on the others it is no better.
    return this.#stores.shared.filter(({ wasReached }) => !wasReached()).map(toAbsence);
  };

  /** What a user saved is that user's own: it is told in the log, and alarms nobody. */
  #danglingOfConfiguration(): readonly Dangling[] {
    return [...this.#dangling.values()].filter((edge) => !isFromUserApplication(edge));
  }

  /** Whether it dangles in the configuration in force too, as far as that can tell. */
  #isStillNamed(edge: Dangling): boolean {
    const { deployments } = this.#parts.snapshot();
    const deployment = deployments.get(edge.deployment);
    if (deployments.has(edge.dependency) || this.#hasWarning(edge)) return false;
    return deployment === undefined
      ? isFromUserApplication(edge)
      : listDeclaredDependencies(deployment).includes(edge.dependency);
  }

  /** Of ids that the API may give, and of what only a walk finds out about, the configuration cannot know. */
  #hasWarning({ deployment, dependency }: Dangling): boolean {
    if (dependency.startsWith('applications/')) return false;
    const configured = this.#parts.snapshot().deployments.get(deployment);
    return configured !== undefined && listDeclaredDependencies(configured).includes(dependency);
  }
}

function isFromUserApplication({ deployment }: Dangling): boolean {
  return deployment.startsWith(applicationPrefix);
}

function toRejection(id: string, status: number): Reason {
  return {
    code: 'upstream_credentials_rejected',
    message: `${id} rejects the credentials of the configuration with ${status}. Check key and headers of this upstream.`,
  };
}

function toAbsence({ name }: SharedStore): Reason {
  return {
    code: `${name}_away`,
    message: `${storeNames[name]} cannot be reached: calls that need it are refused until it is back.`,
  };
}

/** As everybody may read it: a file by its name, without the folders of this machine. */
function formatPublic({ file, ...rest }: ConfigurationError): string {
  return formatConfigurationError({
    ...rest,
    file: file
      .split(', ')
      .map((path) => basename(path))
      .join(', '),
  });
}

const maxNames = 5;

/** Formats one line for the log however many there are: their number and the first of them. */
export function formatAllDangling(dangling: readonly Dangling[]): string {
  const [first] = dangling;
  if (first !== undefined && dangling.length === 1) return formatDangling(first);
  const names = dangling.slice(0, maxNames).map((edge) => `${edge.deployment} → ${edge.dependency}`);
  const suffix = dangling.length > maxNames ? ', …' : '';
  return `${dangling.length} dependencies do not exist: ${names.join(', ')}${suffix}`;
}

/** A sentence for the log and `/health`. */
export function formatDangling({ deployment, dependency }: Dangling): string {
  return `${deployment} depends on ${dependency}, which does not exist`;
}
