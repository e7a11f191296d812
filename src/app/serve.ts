import { randomUUID } from 'node:crypto';
import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { EmbedderPool, recentVectorBounds } from '#base/embedding/local-embedder.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { parseJson } from '#base/json/json.ts';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import { type ConfigurationWatch, watchConfiguration } from '#configuration/watch.ts';
import { formatConfigurationError, type ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { checkedConfigurationBounds } from '#services/administration/file-layer.ts';
import { FirstStart } from '#services/administration/first-start.ts';
import { hasAdministrator } from '#services/administration/runtime-entries.ts';
import type { NodeReport, StoreReport, UpstreamReport } from '#surfaces/admin/node-report.ts';
import { type OpsDeps, opsRoutes } from '#surfaces/ops/routes.ts';
import { toPlainMetrics } from '#telemetry/metric.ts';
import type { NodeTelemetry } from '#telemetry/node-telemetry.ts';
import { chooseMetricsFormat, metricsContentTypes } from '#telemetry/prometheus-text.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { loadFirstConfiguration, localKeyName } from './first-configuration.ts';
import { formatAllDangling } from './node/node-state.ts';
import { configurationLoaded, type NodeDeps, openNode } from './node/open-node.ts';
import {
  type CloseStages,
  Drain,
  ignoreEchoes,
  type Resource,
  rejectWhileDraining,
  TrackedConnections,
} from './process/drain.ts';
import { createLocalKey, greet } from './process/greet.ts';
import { listenAt, listenForAddress, readTls, toSharedPort, watchTls } from './process/listening.ts';
import { countEmbeddingThreads, getProcessMemory, releaseStartMemory } from './process/memory-shares.ts';
import { type ReadMetrics, serveMetrics } from './process/metrics-server.ts';
import { startSample, storeDocuments } from './sample/sample.ts';
import { composeService, type Service } from './service/compose.ts';
import { listApiOperations } from './service/features.ts';
import { SettingError, type Settings } from './settings.ts';
import { doesNodeTasks, type WorkerContext } from './workers/worker-context.ts';

const clock = systemClock;

/** Runs a node until a signal stops it. Throws SettingError. `worker` is undefined if this process is the complete node. */
export async function serve(settings: Settings, environment: Environment, worker?: WorkerContext): Promise<void> {
  const { host, port } = settings;
  // A SIGHUP that arrives before the node can reload its configuration must not terminate the process.
  let onHangUp = (): void => undefined;
  if (worker === undefined) process.on('SIGHUP', () => onHangUp());
  const http = new LeanClient();
  const isDefault = settings.configurationFiles.length === 0;
  const sample = isDefault && worker === undefined ? await startSample(createRandomSecret()) : undefined;
  const local = worker?.local ?? { key: createLocalKey(), sample: sample?.server };
  const accepted = await loadStartConfiguration(settings.configurationFiles, environment, { ...local, http, worker });
  const node = await openNode(settings, environment, accepted, worker);
  await sample?.prepare({ files: node.stores.files, clock, log: node.log });
  if (isDefault && worker?.isFirst) await storeDocuments({ files: node.stores.files, clock, log: node.log });
  const firstStart = createFirstStart(node, isDefault);
  const service = composeNode(node, http, firstStart);
  const reload = await watchConfigurationFiles(node, environment, accepted);
  onHangUp = () => reload.reload();
  const connections = new TrackedConnections(service.app.server);
  await service.app.ready();
  releaseStartMemory();
  const listen = () => service.app.listen({ host, port, ...toSharedPort(worker) });
  const address = await listenForAddress(listen, service.app.server, settings);
  const sideListeners = await openSideListeners(node, service.app);
  const listeners = [http, reload, service.embedder, service.app, ...sideListeners, ...(sample?.server ? [sample.server] : [])];
  const drain = createDrain(node, { ...service, connections }, [listeners, ...node.closeStages]);
  node.state.markStarted(() => drain.isDraining);
  if (worker === undefined) {
    const onSignal = ignoreEchoes(drain.handleSignal, environment, clock);
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  } else {
    worker.handlers.set('signal', (signal: NodeJS.Signals) => (signal === 'SIGHUP' ? onHangUp() : drain.handleSignal(signal)));
    answerPrimary(node, worker);
  }
  node.log.info('listening', {
    address,
    version: packageJson.version,
    deployments: node.snapshot.current().deployments.size,
    ...(worker && { worker: worker.slot }),
  });
  service.prepareDocuments();
  node.snapshot.onReplaced(service.prepareDocuments);
  if (worker === undefined) greet(address, isDefault ? local.key : undefined);
  else worker.channel.send('ready', address);
  offerFirstStart(node, firstStart, address);
}

/** Answers requests of the primary process about this worker. */
function answerPrimary({ entries, state, telemetry }: NodeDeps, { handlers }: WorkerContext): void {
  handlers.set('configuration.read', () => JSON.stringify(entries.files));
  handlers.set('health.read', state.listIssues);
  handlers.set('metrics.read', () => toPlainMetrics(telemetry.readMetrics()));
}

/** Creates the exchange of a one-time token for the first admin key. The key of the embedded default does not count as one. */
function createFirstStart({ log, worker }: NodeDeps, isDefault: boolean): FirstStart {
  return new FirstStart({
    hasAdministrator: (configuration) => hasAdministrator(configuration, clock.epochMs(), isDefault ? localKeyName : undefined),
    newId: randomUUID,
    newSecret: createRandomSecret,
    ...(worker && { token: worker.local.firstStartToken }),
    onExhausted: () => log.warn('the one-time token expired after too many wrong attempts. Restart Parley for a new one'),
  });
}

/** Logs a one-time token if no administrator exists. All workers accept it, and the first one logs it. */
function offerFirstStart({ entries, log, worker }: NodeDeps, firstStart: FirstStart, address: string): void {
  const oneTimeToken = firstStart.offer(entries.configuration);
  if (oneTimeToken === undefined || worker?.isFirst === false) return;
  log.info(
    'no administrator exists. To create a permanent admin key, send this one-time token to the address. It is valid until it is used or Parley stops',
    { firstStartToken: oneTimeToken, address: `${address}/v1/admin/first-start` },
  );
}

function composeNode(
  { settings, snapshot, loadBalancer, caches, state, stores, entries, telemetry, log, recordAudit, nodes, worker }: NodeDeps,
  http: HttpClient,
  firstStart: FirstStart,
): Service & { embedder: EmbedderPool } {
  const embedder = new EmbedderPool(countEmbeddingThreads(getProcessMemory()), {
    recent: caches.create('recent_vectors', recentVectorBounds),
  });
  const uptimeSeconds = (): number => (worker === undefined ? process.uptime() : (clock.epochMs() - worker.startedAtMs) / 1000);
  const program = { version: packageJson.version, uptimeSeconds };
  const listIssues = worker?.listIssues ?? state.listIssues;
  const service: Service = composeService({
    snapshot: snapshot.current,
    loadBalancer,
    http,
    embedder,
    clock,
    caches,
    telemetry,
    stores,
    ...stores,
    alerts: { store: stores.alerts, onUndelivered: state.setUndeliveredAlerts },
    entries: { entries, store: stores.entries.store, firstStart },
    admin: {
      journal: stores.journal,
      callContents: stores.callContents,
      nodes,
      readNode: createNodeReporter({ settings, snapshot, loadBalancer, state, clock, listIssues, ...program }),
    },
    reportError: (message, error) => log.error(message, error),
    onUnsupported: ({ id }, what) => log.debug('left out: the upstream protocol does not support it', { upstream: id, what }),
    onRemovedReferences: (deployment, count) =>
      log.debug('removed references to files that the deployment cannot read', { deployment, count }),
    recordAudit,
    onDependencyGraph(graph) {
      const dangling = state.recordGraph(graph);
      if (dangling.length > 0) log.warn(formatAllDangling(dangling));
    },
    onMissingDocuments(application, references) {
      const missing = state.missingDocuments.record(application, references);
      if (missing !== undefined) log.warn(missing);
    },
    onUnusablePart(part) {
      const line = state.unusableParts.record(part);
      if (line !== undefined) log.warn(line);
    },
    ...(settings.tls && { tls: readTls(settings.tls) }),
    addHooks(app) {
      rejectWhileDraining(app, () => service.inFlightCalls.isClosed);
      measureHttp(app, telemetry);
    },
  });
  opsRoutes(service.app, {
    ...program,
    listIssues,
    listObstacles: state.listObstacles,
    readMetrics: settings.metricsPort === undefined ? createMetricsReader(telemetry, worker) : undefined,
    operations: listApiOperations(snapshot.current().configuration),
  });
  return { ...service, embedder };
}

function createMetricsReader(telemetry: NodeTelemetry, worker: WorkerContext | undefined): ReadMetrics {
  return async (accept) => {
    const format = chooseMetricsFormat(accept);
    return { contentType: metricsContentTypes[format], text: telemetry.toPrometheus(format, await worker?.readMetrics()) };
  };
}

/** Reloads changed configuration files for as long as the node runs. */
function watchConfigurationFiles(
  { settings, log, entries, shareFiles, state, recordAudit, worker }: NodeDeps,
  environment: Environment,
  accepted: ValidConfiguration,
): Promise<ConfigurationWatch> {
  const { configurationFiles: files } = settings;
  // Each worker reads the files. Only one of them adds audit records.
  const isRecorder = doesNodeTasks(worker);
  return watchConfiguration(files, () => loadConfiguration(files, environment, { isRunning: true }), {
    initialConfiguration: files.length > 0 ? accepted.configuration : undefined,
    onLoaded(loaded) {
      entries.replaceFiles(loaded);
      if (isRecorder) recordAudit(configurationLoaded);
      shareFiles(loaded);
      log.info('configuration reloaded', { files: files.join(', '), ...(worker && { worker: worker.slot }) });
    },
    onRejected(errors, cause) {
      state.recordRejectedConfiguration(errors);
      if (isRecorder) recordAudit({ action: 'configuration.refused', subject: undefined, object: errors[0]?.path });
      for (const error of errors)
        log.error(`configuration rejected, the previous one stays in effect: ${formatConfigurationError(error)}`, cause);
    },
  });
}

/** Opens the certificate watch and the metrics port, if they are configured. */
async function openSideListeners({ settings, log, telemetry, worker }: NodeDeps, app: FastifyInstance): Promise<Resource[]> {
  const { host, metricsPort, tls } = settings;
  const opened: Resource[] = [];
  if (tls !== undefined) opened.push(await watchTls(tls, app.server as unknown as Server, log));
  if (metricsPort !== undefined) {
    const options = {
      host,
      port: metricsPort,
      ...toSharedPort(worker),
      readMetrics: createMetricsReader(telemetry, worker),
      reportError: (message: string, error: unknown) => log.error(message, error),
    };
    opened.push(await listenAt(() => serveMetrics(options), { ...options, setting: 'PARLEY_METRICS_PORT' }));
  }
  return opened;
}

function createDrain(
  { settings, log }: NodeDeps,
  { app, inFlightCalls, connections }: Pick<Service, 'app' | 'inFlightCalls'> & { readonly connections: TrackedConnections },
  closeStages: CloseStages,
): Drain {
  const exit = (code: number): void => process.exit(code);
  const { drainMs, lameDuckMs } = settings;
  process.on('unhandledRejection', (reason) => log.error('unhandled promise rejection', reason));
  const { server } = app;
  return new Drain({ server, connections, calls: inFlightCalls, clock, log, drainMs, lameDuckMs, closeStages, exit });
}

/** Returns the configuration to start with. Throws SettingError with all configuration errors. */
async function loadStartConfiguration(
  files: readonly string[],
  environment: Environment,
  { worker, ...local }: Parameters<typeof loadFirstConfiguration>[2] & { readonly worker: WorkerContext | undefined },
): Promise<ValidConfiguration> {
  const inForce =
    worker?.configuration === undefined
      ? undefined
      : checkConfiguration(parseJson(worker.configuration, checkedConfigurationBounds));
  const loaded = files.length === 0 && inForce !== undefined ? inForce : await loadFirstConfiguration(files, environment, local);
  // A worker that replaces another one uses the configuration in force, and then reports the errors of the changed files.
  if ('errors' in loaded && inForce !== undefined && !('errors' in inForce)) return inForce;
  if ('errors' in loaded)
    throw new SettingError(`the configuration is invalid\n${loaded.errors.map(formatConfigurationError).join('\n')}`);
  return loaded;
}

/**
 * Records requests of routes that are registered later. Skips routes with `config.isRaw`: their calls have their own records,
 * and the framework's hook would be more expensive than all other telemetry.
 */
export function measureHttp(app: FastifyInstance, telemetry: Pick<NodeTelemetry, 'recordRequest'>): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isRaw?: boolean } | undefined)?.isRaw) return;
    const before = route.onResponse === undefined ? [] : [route.onResponse].flat();
    route.onResponse = [
      ...before,
      async (request, reply) => {
        const { statusCode: status, elapsedTime: ms } = reply;
        telemetry.recordRequest({ method: request.method, route: route.url, status, ms });
      },
    ];
  });
}

interface NodeReportDeps extends Pick<NodeDeps, 'settings' | 'snapshot' | 'loadBalancer' | 'state'>, Pick<OpsDeps, 'listIssues'> {
  readonly clock: Clock;
  /** Version of Parley. */
  readonly version: string;
  readonly uptimeSeconds: () => number;
}

/**
 * Returns a function that reports the state of the node to administrators. The report contains no secrets. It names no folders,
 * except in paths of configuration files and in the configuration.
 */
function createNodeReporter(deps: NodeReportDeps): () => Promise<NodeReport> {
  const { settings, snapshot, state, loadBalancer, clock, version, uptimeSeconds, listIssues } = deps;
  return async () => {
    const reasons = await listIssues();
    const nowMs = clock.epochMs();
    return {
      node: { version, runtime: process.version, startedAt: Math.round(nowMs - uptimeSeconds() * 1000), now: nowMs },
      health: { status: reasons.length === 0 ? 'ok' : 'degraded', reasons },
      hindrances: state.listObstacles(),
      stores: toStores(deps),
      upstreams: [...snapshot.current().deployments.values()].flatMap((deployment) =>
        deployment.upstreams.map((upstream) => toUpstream(deps, deployment, upstream)),
      ),
      queues: [...state.queues()].map(({ deployment, size }) => ({
        ...{ deployment, size },
        waitTime: Math.round(clock.nowMs() - (loadBalancer.queue.findOldestStartMs(deployment) ?? clock.nowMs())),
      })),
      configuration: { files: settings.configurationFiles, ...state.configuration },
    };
  };
}

function toStores({ settings: { shared }, state }: NodeReportDeps): readonly StoreReport[] {
  return [
    { holds: 'records', kind: shared.databaseUrl === undefined ? 'sqlite' : 'postgres', isAway: state.isUnavailable('database') },
    { holds: 'files', kind: shared.files === undefined ? 'disk' : 's3', isAway: false },
    { holds: 'limits', kind: shared.redisUrl === undefined ? 'memory' : 'redis', isAway: state.isUnavailable('redis') },
  ];
}

function toUpstream({ loadBalancer, clock }: NodeReportDeps, deployment: Deployment, upstream: Upstream): UpstreamReport {
  const { reason, failuresInARow, refusedStatus, lastError, pausedForMs, parallel, maxParallel } = loadBalancer.getDetailedState(
    upstream,
    clock.nowMs(),
  );
  return {
    id: upstream.id,
    deployment: deployment.id,
    displayName: deployment.displayName ?? null,
    protocol: upstream.protocol,
    origin: upstream.endpoint?.origin ?? null,
    region: upstream.region ?? null,
    model: upstream.model,
    weight: upstream.weight,
    tier: upstream.tier,
    parallel: maxParallel === undefined ? null : parallel,
    maxParallel: maxParallel ?? null,
    state: reason ?? 'ok',
    failuresInARow,
    refusedStatus: refusedStatus ?? null,
    lastError: lastError ?? null,
    offUntil: pausedForMs === 0 ? null : Math.round(clock.epochMs() + pausedForMs),
  };
}
