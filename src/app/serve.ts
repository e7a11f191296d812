import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import { EmbedderPool, recentVectorBounds } from '#base/embedding/local-embedder.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import { type ConfigurationWatch, watchConfiguration } from '#configuration/watch.ts';
import { formatConfigurationError, type ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { FirstStart } from '#services/administration/first-start.ts';
import { hasAdministrator } from '#services/administration/runtime-entries.ts';
import type { NodeReport, StoreReport, UpstreamReport } from '#surfaces/admin/node-report.ts';
import { opsRoutes } from '#surfaces/ops/routes.ts';
import type { NodeTelemetry } from '#telemetry/node-telemetry.ts';
import { prometheusContentType } from '#telemetry/prometheus-text.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { ServeFlags } from './cli.ts';
import { firstConfiguration, localKeyName } from './first-configuration.ts';
import { formatAllDangling } from './node/node-state.ts';
import { configurationLoaded, type NodeDeps, openNode } from './node/open-node.ts';
import type { SharedStore } from './node/stores.ts';
import { type Closable, type CloseStages, Drain, rejectWhileDraining, TrackedConnections } from './process/drain.ts';
import { ignoreEchoes } from './process/ignore-echoes.ts';
import { listenAt, listenForAddress, readTls, watchTls } from './process/listening.ts';
import { countEmbeddingThreads, getProcessMemory } from './process/memory-shares.ts';
import { serveMetrics } from './process/metrics-server.ts';
import { startSample } from './sample/sample.ts';
import { composeService, type Service } from './service/compose.ts';
import { apiOperations } from './service/features.ts';
import { newSecret as newAdminSecret } from './service/new-secret.ts';
import { readSettings, SettingError } from './settings.ts';

const clock = systemClock;
const program = { version: packageJson.version, uptimeSeconds: () => process.uptime() };

/** Runs a node until a signal stops it. If the node cannot start, prints the reason to stderr and exits with 1. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<void> {
  try {
    await startNode(flags, environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`parley: ${error.message}`);
    // Resources that are already open, such as the file watch, would keep the process alive.
    process.exit(1);
  }
}

async function startNode(flags: ServeFlags, environment: Environment): Promise<void> {
  // A SIGHUP that arrives before the node can reload its configuration must not terminate the process.
  let onHangUp = (): void => undefined;
  process.on('SIGHUP', () => onHangUp());
  const settings = readSettings(flags, environment);
  const { host, port } = settings;
  const http = new LeanClient();
  const localKey = `parley-${newSecret()}`;
  const isDefault = settings.configurationFiles.length === 0;
  const sample = isDefault ? await startSample(newSecret()) : undefined;
  const local = { key: localKey, sample: sample?.server, http };
  const accepted = await acceptedConfiguration(settings.configurationFiles, environment, local);
  const node = await openNode(settings, environment, accepted);
  await sample?.prepare({ files: node.stores.files, clock, log: node.log });
  const firstStart = createFirstStart(node, isDefault);
  const service = composeNode(node, http, firstStart);
  const reload = await keepConfiguration(node, environment, accepted);
  onHangUp = () => reload.reload();
  const connections = new TrackedConnections(service.app.server);
  const address = await listenForAddress(() => service.app.listen({ host, port }), service.app.server, settings);
  const sideListeners = await openSideListeners(node, service.app);
  const serving = [http, reload, service.embedder, service.app, ...sideListeners, ...(sample?.server ? [sample.server] : [])];
  const drain = createDrain(node, { ...service, connections }, [serving, ...node.closing]);
  const onSignal = ignoreEchoes(drain.signalled, environment, clock);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  node.state.started(() => drain.isDraining);
  node.log.info('listening', { address, version: packageJson.version, deployments: node.snapshot.current().deployments.size });
  service.prepareDocuments();
  node.snapshot.onReplaced(service.prepareDocuments);
  greet(address, isDefault ? localKey : undefined);
  offerFirstStart(node, firstStart, address);
}

function newSecret(): string {
  return randomBytes(18).toString('base64url');
}

/** Creates the exchange of a one-time token for the first admin key. The key of the embedded default ends with the process. */
function createFirstStart({ log }: NodeDeps, isDefault: boolean): FirstStart {
  return new FirstStart({
    hasAdministrator: (configuration) => hasAdministrator(configuration, clock.epochMs(), isDefault ? localKeyName : undefined),
    newId: randomUUID,
    newSecret: newAdminSecret,
    onExhausted: () => log.warn('the token of the first start ended after too many wrong tries. Restart Parley for a new one'),
  });
}

/** Logs a one-time token if no administrator exists. */
function offerFirstStart({ entries, log }: NodeDeps, firstStart: FirstStart, address: string): void {
  const oneTimeToken = firstStart.offer(entries.configuration);
  if (oneTimeToken === undefined) return;
  log.info(
    'no administrator exists. To create a lasting admin key, send this one-time token to the address. It is valid until it is used or Parley stops',
    { firstStartToken: oneTimeToken, address: `${address}/v1/admin/first-start` },
  );
}

function composeNode(
  { settings, snapshot, loadBalancer, caches, state, stores, entries, telemetry, log, recordAudit, nodes }: NodeDeps,
  http: HttpClient,
  firstStart: FirstStart,
): Service & { embedder: EmbedderPool } {
  const embedder = new EmbedderPool(countEmbeddingThreads(getProcessMemory()), {
    recent: caches.create('recent_vectors', recentVectorBounds),
  });
  const service: Service = composeService({
    snapshot: snapshot.current,
    loadBalancer,
    http,
    embedder,
    clock,
    caches,
    telemetry,
    stores,
    files: stores.files,
    passages: stores.passages,
    responses: stores.responses,
    broadcast: stores.broadcast,
    evaluations: stores.evaluations,
    chats: stores.chats,
    shares: stores.shares,
    keys: stores.keys,
    entries: { entries, store: stores.entries.store, firstStart },
    admin: {
      journal: stores.journal,
      nodes,
      readNode: createReadNode({ settings, snapshot, loadBalancer, state, clock, ...program }),
    },
    reportError: (message, error) => log.error(message, error),
    onUnsupported: ({ id }, what) => log.debug('left out: the upstream protocol does not support it', { upstream: id, what }),
    onRemovedReferences: (deployment, count) =>
      log.debug('removed references to files that the deployment may not read', { deployment, count }),
    recordAudit,
    onGraph(graph) {
      const dangling = state.graphWalked(graph);
      if (dangling.length > 0) log.warn(formatAllDangling(dangling));
    },
    onMissing(application, references) {
      const missing = state.documents.note(application, references);
      if (missing !== undefined) log.warn(missing);
    },
    onUnusablePart(part) {
      const line = state.unusable.note(part);
      if (line !== undefined) log.warn(line);
    },
    ...(settings.tls && { tls: readTls(settings.tls) }),
    prepare(app) {
      rejectWhileDraining(app, () => service.inFlightCalls.isClosed);
      measureHttp(app, telemetry);
    },
  });
  opsRoutes(service.app, {
    ...program,
    listIssues: state.listIssues,
    listObstacles: state.listObstacles,
    metrics: settings.metricsPort === undefined ? createMetricsSource(telemetry) : undefined,
    operations: apiOperations(snapshot.current().configuration),
  });
  return { ...service, embedder };
}

function createMetricsSource(telemetry: NodeTelemetry): { contentType: string; read: () => string } {
  return { contentType: prometheusContentType, read: () => telemetry.toPrometheus() };
}

/** Reloads changed configuration files for as long as the node runs. */
function keepConfiguration(
  { settings, log, entries, shareFiles, state, recordAudit }: NodeDeps,
  environment: Environment,
  accepted: ValidConfiguration,
): Promise<ConfigurationWatch> {
  const { configurationFiles: files } = settings;
  return watchConfiguration(files, () => loadConfiguration(files, environment, { isRunning: true }), {
    readBefore: files.length > 0 ? accepted.configuration : undefined,
    onLoaded(loaded) {
      entries.replaceFiles(loaded);
      recordAudit(configurationLoaded);
      shareFiles(loaded);
      log.info('configuration reloaded', { files: files.join(', ') });
    },
    onRejected(errors, cause) {
      state.configurationRefused(errors);
      recordAudit({ action: 'configuration.refused', subject: undefined, object: errors[0]?.path });
      for (const error of errors)
        log.error(`configuration rejected, the previous one stays in effect: ${formatConfigurationError(error)}`, cause);
    },
  });
}

/** Opens the certificate watch and the metrics port, if they are configured. */
async function openSideListeners({ settings, log, telemetry }: NodeDeps, app: FastifyInstance): Promise<Closable[]> {
  const { host, metricsPort, tls } = settings;
  const opened: Closable[] = [];
  if (tls !== undefined) opened.push(await watchTls(tls, app.server as unknown as Server, log));
  if (metricsPort !== undefined) {
    const options = { host, port: metricsPort, ...createMetricsSource(telemetry) };
    opened.push(await listenAt(() => serveMetrics(options), { ...options, setting: 'PARLEY_METRICS_PORT' }));
  }
  return opened;
}

interface Stoppable extends Pick<Service, 'app' | 'inFlightCalls'> {
  readonly connections: TrackedConnections;
}

function createDrain({ settings, log }: NodeDeps, { app, inFlightCalls, connections }: Stoppable, closing: CloseStages): Drain {
  const exit = (code: number): void => process.exit(code);
  const { drainMs, lameDuckMs } = settings;
  process.on('unhandledRejection', (reason) => log.error('unhandled promise rejection', reason));
  const { server } = app;
  return new Drain({ server, connections, calls: inFlightCalls, clock, log, drainMs, lameDuckMs, closing, exit });
}

/** Returns the configuration to start with. Throws SettingError with all configuration errors. */
async function acceptedConfiguration(
  files: readonly string[],
  environment: Environment,
  local: Parameters<typeof firstConfiguration>[2],
): Promise<ValidConfiguration> {
  const loaded = await firstConfiguration(files, environment, local);
  if ('errors' in loaded)
    throw new SettingError(`the configuration is invalid\n${loaded.errors.map(formatConfigurationError).join('\n')}`);
  return loaded;
}

/** Prints the start message for the user. */
function greet(address: string, localKey: string | undefined): void {
  console.log(`Parley listens on ${address}, API reference: ${address}/docs`);
  if (localKey !== undefined)
    console.log(`No configuration found. Serving the demo. Page (key valid until restart): ${address}/#key=${localKey}`);
}

/**
 * Counts requests of routes that are registered after the call. Routes with `config.isMeasured` are skipped: their calls are
 * counted by their own records, and the framework's hook would be more expensive than all other telemetry.
 */
export function measureHttp(app: FastifyInstance, telemetry: Pick<NodeTelemetry, 'httpRequest'>): void {
  app.addHook('onRoute', (route) => {
    if ((route.config as { isMeasured?: boolean } | undefined)?.isMeasured) return;
    const before = route.onResponse === undefined ? [] : [route.onResponse].flat();
    route.onResponse = [
      ...before,
      async (request, reply) => {
        telemetry.httpRequest({ method: request.method, route: route.url, status: reply.statusCode, ms: reply.elapsedTime });
      },
    ];
  });
}

interface NodeReportDeps extends Pick<NodeDeps, 'settings' | 'snapshot' | 'loadBalancer' | 'state'> {
  readonly clock: Clock;
  /** Version of Parley. */
  readonly version: string;
  readonly uptimeSeconds: () => number;
}

/**
 * Returns a function that reports the state of the node to administrators. The report contains no secrets and no folders that the
 * configuration does not name.
 */
function createReadNode(parts: NodeReportDeps): () => NodeReport {
  const { settings, snapshot, state, clock, version, uptimeSeconds } = parts;
  return () => {
    const reasons = state.listIssues();
    const now = clock.epochMs();
    return {
      node: { version, runtime: process.version, startedAt: Math.round(now - uptimeSeconds() * 1000), now },
      health: { status: reasons.length === 0 ? 'ok' : 'degraded', reasons },
      hindrances: state.listObstacles(),
      stores: toStores(parts),
      upstreams: [...snapshot.current().deployments.values()].flatMap((deployment) => toUpstreams(parts, deployment)),
      queues: [...state.queues()],
      configuration: { files: settings.configurationFiles, ...state.configuration },
    };
  };
}

function toStores({ settings: { shared }, state }: NodeReportDeps): readonly StoreReport[] {
  const isUnavailable = (name: SharedStore['name']): boolean => state.isUnavailable(name);
  return [
    { holds: 'records', kind: shared.databaseUrl === undefined ? 'sqlite' : 'postgres', isAway: isUnavailable('database') },
    { holds: 'files', kind: shared.files === undefined ? 'disk' : 's3', isAway: false },
    { holds: 'limits', kind: shared.redisUrl === undefined ? 'memory' : 'redis', isAway: isUnavailable('redis') },
  ];
}

function toUpstreams({ loadBalancer, clock }: NodeReportDeps, { id, upstreams }: Deployment): readonly UpstreamReport[] {
  return upstreams.map((upstream) => toUpstream(upstream, { deployment: id, loadBalancer, clock }));
}

function toUpstream(
  upstream: Upstream,
  { deployment, loadBalancer, clock }: { deployment: string; loadBalancer: LoadBalancer; clock: Clock },
): UpstreamReport {
  const { reason, failuresInARow, refusedStatus, lastError, offForMs, parallel, maxParallel } = loadBalancer.getBackOff(
    upstream,
    clock.nowMs(),
  );
  return {
    id: upstream.id,
    deployment,
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
    offUntil: offForMs === 0 ? null : Math.round(clock.epochMs() + offForMs),
  };
}
