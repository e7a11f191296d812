import { basename } from 'node:path';
import type { Clock } from '#base/time/clock.ts';
import { type ConfigurationFault, formatFault } from '#configuration/configuration-fault.ts';
import type { Dangling, DependencyGraph } from '#domain/consent/dependency-graph.ts';
import { madeByUsers } from '#domain/deployments/application-place.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { declaredDependencies } from '#domain/quick-app/deployments-as-tools.ts';
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
  readonly takesWrites: () => boolean;
  /** Whether the contents of files lie where other nodes have them, and this one has not. */
  readonly areFilesElsewhere: () => boolean;
}

const mostDangling = 100;
const noStores: StoresState = { shared: [], losses: () => [], takesWrites: () => true, areFilesElsewhere: () => false };
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
const placeNames: Readonly<Record<SharedStore['name'], string>> = { database: 'The shared database', redis: 'Redis' };

/** What an operator should know of a node: for `/health`, `/ready` and the metrics. */
export class NodeState {
  #isStarted = false;
  #isStopping: () => boolean = () => false;
  #warnings: readonly ConfigurationFault[] = [];
  #faults: readonly ConfigurationFault[] = [];
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

  configurationAccepted(warnings: readonly ConfigurationFault[]): void {
    this.#warnings = warnings;
    this.#faults = [];
    this.#loadedAtMs = this.#parts.clock.epochMs();
    this.#refusedAtMs = undefined;
    for (const [id, each] of this.#dangling) if (!this.#isStillNamed(each)) this.#dangling.delete(id);
  }

  /** Notes what dangles in a graph, but for what a warning of the configuration says already; gives what was not known yet. */
  graphWalked({ deployments, dangling }: DependencyGraph): readonly Dangling[] {
    const unwarned = dangling.filter((each) => !this.#isWarnedOf(each));
    const added = unwarned.filter(({ dependency }) => !this.#dangling.has(dependency));
    const walked = new Set(deployments.map(({ id }) => id));
    for (const [id, { deployment }] of this.#dangling) if (walked.has(deployment) || walked.has(id)) this.#dangling.delete(id);
    for (const each of unwarned) this.#dangling.set(each.dependency, each);
    for (const id of [...this.#dangling.keys()].slice(0, -mostDangling)) this.#dangling.delete(id);
    return added;
  }

  configurationRefused(faults: readonly ConfigurationFault[]): void {
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
      for (const upstream of upstreams) yield loadBalancer.state(upstream, nowMs);
    }
  }

  /** What is wrong while the node still serves. */
  readonly troubles = (): readonly Reason[] => [
    ...this.#faults.map((fault) => ({ code: 'configuration_refused', message: formatPublic(fault) })),
    ...this.#warnings
      .filter(({ isNotice }) => isNotice !== true)
      .map((warning) => ({ code: 'configuration_warning', message: formatPublic(warning) })),
    ...this.#danglingOfConfiguration().map((each) => ({ code: 'dependency_missing', message: formatDangling(each) })),
    ...this.documents.reasons,
    ...this.unusable.reasons,
    ...[...this.upstreams()]
      .filter(({ off }) => off)
      .map(({ id, reason }) => ({ code: 'upstream_off', message: `${id} is left alone: ${reason}` })),
    ...[...this.upstreams()].flatMap(({ id, rejectsWith }) => (rejectsWith === undefined ? [] : [toRejection(id, rejectsWith)])),
    ...this.#stores.shared.filter(({ isAway }) => isAway()).map(toAbsence),
    ...(this.#stores.takesWrites() ? [] : [writesRefused]),
    ...(this.#stores.areFilesElsewhere() ? [filesElsewhere] : []),
    ...this.#stores.losses().map((message) => ({ code: 'records_lost', message: `${message}.` })),
  ];

  /** Why the node takes no calls now. */
  readonly hindrances = (): readonly Reason[] => {
    if (this.#isStopping()) return [{ code: 'stopping', message: 'The node is stopping.' }];
    if (!this.#isStarted) return [{ code: 'starting', message: 'The node is starting.' }];
    // An outage later on leaves the node ready: on the others it is no better.
    return this.#stores.shared.filter(({ wasReached }) => !wasReached()).map(toAbsence);
  };

  /** What a user saved is that user's own: it is told in the log, and alarms nobody. */
  #danglingOfConfiguration(): readonly Dangling[] {
    return [...this.#dangling.values()].filter((each) => !isMadeByUser(each));
  }

  /** Whether it dangles in the configuration in force too, as far as that can tell. */
  #isStillNamed(each: Dangling): boolean {
    const { deployments } = this.#parts.snapshot();
    const named = deployments.get(each.deployment);
    if (deployments.has(each.dependency) || this.#isWarnedOf(each)) return false;
    return named === undefined ? isMadeByUser(each) : declaredDependencies(named).includes(each.dependency);
  }

  /** Of ids that the API may give, and of what only a walk finds out about, the configuration cannot know. */
  #isWarnedOf({ deployment, dependency }: Dangling): boolean {
    if (dependency.startsWith('applications/')) return false;
    const named = this.#parts.snapshot().deployments.get(deployment);
    return named !== undefined && declaredDependencies(named).includes(dependency);
  }
}

function isMadeByUser({ deployment }: Dangling): boolean {
  return deployment.startsWith(madeByUsers);
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
    message: `${placeNames[name]} cannot be reached: calls that need it are refused until it is back.`,
  };
}

/** As everybody may read it: a file by its name, without the folders of this machine. */
function formatPublic({ file, ...fault }: ConfigurationFault): string {
  return formatFault({
    ...fault,
    file: file
      .split(', ')
      .map((each) => basename(each))
      .join(', '),
  });
}

const maxNames = 5;

/** Formats one line for the log however many there are: their number and the first of them. */
export function formatAllDangling(dangling: readonly Dangling[]): string {
  const [first] = dangling;
  if (first !== undefined && dangling.length === 1) return formatDangling(first);
  const names = dangling.slice(0, maxNames).map((each) => `${each.deployment} → ${each.dependency}`);
  const more = dangling.length > maxNames ? ', …' : '';
  return `${dangling.length} dependencies do not exist: ${names.join(', ')}${more}`;
}

/** A sentence for the log and `/health`. */
export function formatDangling({ deployment, dependency }: Dangling): string {
  return `${deployment} depends on ${dependency}, which does not exist`;
}
