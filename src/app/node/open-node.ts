import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Caches } from '#base/cache/bounded-cache.ts';
import { toObject, tryParseJson } from '#base/json/json.ts';
import { systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { LiveConfig } from '#configuration/live-config.ts';
import type { Environment } from '#configuration/substitute.ts';
import { formatConfigurationError, type ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';
import { FileLayer } from '#services/administration/file-layer.ts';
import { RuntimeEntries } from '#services/administration/runtime-entries.ts';
import { NodeRegistry, type NodeRegistryDeps } from '#services/node/node-registry.ts';
import { RecordMaintenance } from '#services/records/record-maintenance.ts';
import { openJournal } from '#telemetry/journal/open-journal.ts';
import type { Log } from '#telemetry/log.ts';
import { type NodeTelemetry, openTelemetry } from '#telemetry/node-telemetry.ts';
import { openLog } from '#telemetry/open-log.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { CloseStages } from '../process/drain.ts';
import { listSecrets, type Settings } from '../settings.ts';
import { doesNodeTasks, type WorkerContext } from '../workers/worker-context.ts';
import { NodeState } from './node-state.ts';
import { openStores, type Stores } from './open-stores.ts';

const clock = systemClock;
const minSecretLength = 32;

/** Audit event of configuration files that take effect. */
export const configurationLoaded = { action: 'configuration.loaded', subject: undefined, object: undefined } as const;

/** Dependencies of a node that exist before the service is composed. */
export interface NodeDeps {
  readonly settings: Settings;
  readonly snapshot: LiveConfig;
  readonly loadBalancer: LoadBalancer;
  readonly caches: Caches;
  readonly state: NodeState;
  readonly stores: Stores;
  /** Configuration that administrators change at run time. */
  readonly entries: RuntimeEntries;
  readonly telemetry: NodeTelemetry;
  readonly log: Log;
  readonly recordAudit: RecordAudit;
  /** The running nodes. */
  readonly nodes: NodeRegistry;
  /** Shares changed files with the other nodes. */
  readonly shareFiles: (accepted: ValidConfiguration) => void;
  /** Resources to close after the service has stopped: pending records, stores, and the log. */
  readonly closeStages: CloseStages;
  /** Undefined if this process is the complete node. */
  readonly worker: WorkerContext | undefined;
}

/** Opens the dependencies of a node. Throws SettingError. */
export async function openNode(
  settings: Settings,
  environment: Environment,
  accepted: ValidConfiguration,
  worker: WorkerContext | undefined,
): Promise<NodeDeps> {
  const isFirst = worker === undefined || worker.isFirst;
  const snapshot = new LiveConfig(accepted.configuration);
  const loadBalancer = new LoadBalancer(worker && { slot: worker.slot, count: settings.workers });
  const caches = new Caches();
  const state = new NodeState({ snapshot: snapshot.current, loadBalancer, clock });
  const { log, lines } = openLog(settings.logLevel, () => [...snapshot.listSecrets(), ...listSecrets(settings)]);
  const reportError = (message: string, error: unknown): void => log.error(message, error);
  const note = (message: string): void => log.info(message);
  if (isFirst) for (const warning of listWarnings(settings)) log.warn(warning);
  const stores = await openStores(settings, { clock, caches, note, reportError, worker });
  const { journal, callContents: contents } = stores;
  const records = openJournal({ journal, contents, clock, note, reportError });
  const { listener, recordAudit, losses } = records;
  state.setStores({ ...stores, losses });
  const telemetry = await openTelemetry({
    env: environment,
    clock,
    caches,
    log,
    lines,
    listeners: [listener],
    live: { upstreams: () => state.upstreams(), queues: state.queues, configurationErrors: () => state.configurationErrorCount },
    version: packageJson.version,
    secret: stores.seal.sign('users', 'pseudonyms of the log'),
    ...(worker && { instanceId: worker.instanceId }),
  });
  const applyConfiguration = createApplyConfiguration({ snapshot, state, telemetry, log, worker });
  applyConfiguration(accepted);
  if (isFirst) recordAudit(configurationLoaded);
  const nodes = openRegistry({ stores, state, reportError, worker });
  const fileLayer = openFileLayer({ settings, stores, nodes, accepted, log, recordAudit, reportError });
  const entries = new RuntimeEntries({
    ...stores.entries,
    files: accepted,
    fileLayer,
    check: checkConfiguration,
    activate: applyConfiguration,
    clock,
    newId: randomUUID,
    reportError,
    broadcast: stores.broadcast,
  });
  await entries.start();
  sharePauses({ stores, loadBalancer });
  const maintenance = new RecordMaintenance({ records: journal, contents, snapshot: snapshot.current, clock, reportError });
  const compareFiles = (): Promise<void> =>
    entries
      .shareFiles()
      .catch((error) => reportError('cannot compare the configuration files with the files of other nodes', error));
  await compareFiles();
  nodes.onRenewed(() => entries.shareFiles());
  state.setFileComparison(() => fileLayer?.usesOtherFiles === true);
  const shareFiles = (changed: ValidConfiguration): void => {
    fileLayer?.replaceOwnFiles(changed);
    void compareFiles();
  };
  const closeStages = [[telemetry, entries, nodes, maintenance, records], [stores], [lines]];
  return {
    settings,
    snapshot,
    loadBalancer,
    caches,
    state,
    stores,
    entries,
    telemetry,
    log,
    recordAudit,
    nodes,
    shareFiles,
    closeStages,
    worker,
  };
}

/** Returns warnings about valid settings that are probably mistakes. */
function* listWarnings({ secrets, shared }: Settings): Iterable<string> {
  if (secrets.some((secret) => secret.reveal().length < minSecretLength))
    yield `PARLEY_SECRET is shorter than ${minSecretLength} characters. Use a long random secret, for example the output of "openssl rand -base64 32"`;
  if (shared.redisUrl !== undefined && shared.databaseUrl === undefined)
    yield 'PARLEY_REDIS_URL is set but PARLEY_DATABASE_URL is not: nodes do not share the configuration, consents, and applications';
  if (shared.redisUrl !== undefined && shared.files === undefined)
    yield 'PARLEY_REDIS_URL is set but PARLEY_FILES_URL is not: nodes do not share the contents of stored files';
}

type ApplyDeps = Pick<NodeDeps, 'snapshot' | 'state' | 'telemetry' | 'log' | 'worker'>;

/** Returns the function that puts an accepted configuration into force. */
function createApplyConfiguration({
  snapshot,
  state,
  telemetry,
  log,
  worker,
}: ApplyDeps): (accepted: ValidConfiguration) => void {
  let reported: ReadonlySet<string> = new Set();
  return ({ configuration, warnings }) => {
    const { aliases } = snapshot.current().configuration;
    if (JSON.stringify(aliases) !== JSON.stringify(configuration.aliases))
      log.warn('changed aliases take effect after a restart');
    snapshot.replace(configuration);
    telemetry.configure(snapshot.current().deployments.values(), configuration.records.maxSpendSeries);
    state.recordAcceptedConfiguration(warnings);
    // Each change at run time checks the complete configuration again, so only new warnings are logged.
    const texts = new Set(warnings.map(formatConfigurationError));
    if (doesNodeTasks(worker)) for (const text of texts) if (!reported.has(text)) log.warn(`configuration: ${text}`);
    reported = texts;
  };
}

/** Applies pauses of upstreams that other nodes publish, and publishes those of this node. */
function sharePauses({ stores, loadBalancer }: Pick<NodeDeps, 'stores' | 'loadBalancer'>): void {
  const { broadcast } = stores;
  broadcast?.onNotice(({ topic, text }) => {
    const pause = topic === 'upstream' ? tryParseJson(text) : undefined;
    const { revision, offForMs } = toObject(pause);
    if (typeof revision === 'string' && typeof offForMs === 'number')
      loadBalancer.applyPause({ revision, offForMs }, clock.nowMs());
  });
  loadBalancer.onPause((pause) => {
    // Best effort: without the notice, the other nodes find the rate limit themselves.
    broadcast?.publish({ topic: 'upstream', text: JSON.stringify(pause) }).catch(() => undefined);
  });
}

interface RegistryDeps extends Pick<NodeDeps, 'stores' | 'state' | 'worker'> {
  readonly reportError: NodeRegistryDeps['reportError'];
}

/** Registers this node, or this worker of it. The record shows its state to administrators on every node. */
function openRegistry({ stores, state, reportError, worker }: RegistryDeps): NodeRegistry {
  const { version } = packageJson;
  const report = { version, host: hostname(), ...(worker && { worker: worker.slot }), startedAt: clock.epochMs() };
  return new NodeRegistry({
    store: stores.nodes,
    node: randomUUID(),
    clock,
    report: () => ({ ...report, ...state.toHealth() }),
    reportError,
  });
}

interface FileLayerDeps extends Pick<NodeDeps, 'stores' | 'nodes' | 'log' | 'recordAudit'> {
  readonly settings: Pick<Settings, 'configurationFiles' | 'shared'>;
  readonly accepted: ValidConfiguration;
  readonly reportError: NodeRegistryDeps['reportError'];
}

/** Opens the files that are in force on all nodes. The embedded default is not shared, because its key is new after each start. */
function openFileLayer({ settings, stores, accepted, log, recordAudit, ...parts }: FileLayerDeps): FileLayer | undefined {
  const { store } = stores.entries;
  // Workers of one node read the same files.
  if (settings.shared.databaseUrl === undefined || settings.configurationFiles.length === 0) return undefined;
  return new FileLayer({
    nodeFiles: accepted,
    check: checkConfiguration,
    digestFiles: (text) => store.digestFiles(text),
    ...parts,
    onApplied() {
      recordAudit(configurationLoaded);
      log.info('applied the configuration files of another node');
    },
  });
}
