import { randomBytes } from 'node:crypto';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { systemClock } from '#base/clock.ts';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import type { HttpClient } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { Balance } from '#domain/balance.ts';
import { opsRoutes } from '#surfaces/ops/routes.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { apiOperations } from './api-operations.ts';
import type { ServeFlags } from './cli.ts';
import { composeService, type Service } from './compose.ts';
import type { Accepted } from './configuration/check.ts';
import { formatFault } from './configuration/configuration-fault.ts';
import { loadConfiguration } from './configuration/load.ts';
import type { Environment } from './configuration/substitute.ts';
import { watchConfiguration } from './configuration/watch.ts';
import { Drain } from './drain.ts';
import { firstConfiguration } from './first-configuration.ts';
import { LiveDirectory } from './live-directory.ts';
import type { Log } from './log.ts';
import { serveMetrics } from './metrics-server.ts';
import { NodeState } from './node-state.ts';
import { openLog } from './open-log.ts';
import { refuseWhileDraining } from './refuse-while-draining.ts';
import { readSettings, SettingFault, type Settings } from './settings.ts';
import { measureHttp } from './telemetry/measure-http.ts';
import { type NodeTelemetry, openTelemetry } from './telemetry/node-telemetry.ts';
import { prometheusContentType } from './telemetry/prometheus-text.ts';
import { readTls, watchTls } from './tls.ts';

const clock = systemClock;

interface Closable {
  close(): unknown;
}

/** Runs a node until it is told to stop. What keeps it from starting is told on stderr; the process then ends with 1. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<void> {
  try {
    await startNode(flags, environment);
  } catch (thrown) {
    if (!(thrown instanceof SettingFault)) throw thrown;
    console.error(`parley: ${thrown.message}`);
    // What was opened before, such as the watch of the files, would keep the process alive.
    process.exit(1);
  }
}

async function startNode(flags: ServeFlags, environment: Environment): Promise<void> {
  const settings = readSettings(flags, environment);
  const http = new LeanClient();
  const localKey = `parley-${randomBytes(18).toString('base64url')}`;
  const accepted = await acceptedConfiguration(settings.configurationFiles, environment, { key: localKey, http });
  const node = await openNode(settings, environment, accepted);
  const service = composeNode(node, http);
  const reload = await keepConfiguration(node, environment);
  const address = await listen(service.app, settings);
  const closing = [reload, node.telemetry, service.embedder, ...(await openDoorsBeside(node, service.app))];
  const close = async (): Promise<void> => {
    http.close();
    await Promise.all(closing.map((each) => each.close()));
    await node.lines.close();
  };
  stopOnSignals(node, service, close);
  node.log.info('listening', { address, version: packageJson.version, deployments: node.directory.current().deployments.size });
  greet(address, settings.configurationFiles.length === 0 ? localKey : undefined);
}

/** What a node knows of itself, apart from what it serves. */
interface NodeParts {
  readonly settings: Settings;
  readonly directory: LiveDirectory;
  readonly balance: Balance;
  readonly state: NodeState;
  readonly telemetry: NodeTelemetry;
  readonly log: Log;
  readonly lines: Closable;
  /** Puts a configuration in force. */
  readonly put: (accepted: Accepted) => void;
}

async function openNode(settings: Settings, environment: Environment, accepted: Accepted): Promise<NodeParts> {
  const directory = new LiveDirectory(accepted.configuration);
  const balance = new Balance();
  const state = new NodeState({ directory: directory.current, balance, clock });
  const { log, lines } = openLog(settings.logLevel, () => directory.secrets());
  const telemetry = await openTelemetry({
    env: environment,
    clock,
    log,
    lines,
    live: { upstreams: () => state.upstreams(), configurationFaults: () => state.configurationFaults },
    version: packageJson.version,
    secret: environment.PARLEY_SECRET,
  });
  const put = ({ configuration, warnings }: Accepted): void => {
    const { aliases } = directory.current().configuration;
    if (JSON.stringify(aliases) !== JSON.stringify(configuration.aliases))
      log.warn('changed aliases hold from the next start on');
    directory.replace(configuration, balance);
    telemetry.configure(directory.current().deployments.values());
    state.configurationAccepted(warnings);
    for (const warning of warnings) log.warn(`configuration: ${formatFault(warning)}`);
  };
  put(accepted);
  return { settings, directory, balance, state, telemetry, log, lines, put };
}

function composeNode(
  { settings, directory, balance, state, telemetry, log }: NodeParts,
  http: HttpClient,
): Service & { embedder: LocalEmbedder } {
  const embedder = new LocalEmbedder();
  const service: Service = composeService({
    directory: directory.current,
    balance,
    http,
    embedder,
    clock,
    telemetry,
    noteFault: (message, thrown) => log.error(message, thrown),
    ...(settings.tls && { tls: readTls(settings.tls) }),
    prepare(app) {
      refuseWhileDraining(app, () => service.openCalls.isClosed);
      measureHttp(app, telemetry);
    },
  });
  opsRoutes(service.app, {
    version: packageJson.version,
    uptimeSeconds: () => process.uptime(),
    troubles: state.troubles,
    hindrances: state.hindrances,
    metrics: settings.metricsPort === undefined ? metricsOf(telemetry) : undefined,
    operations: apiOperations(directory.current().configuration),
  });
  return { ...service, embedder };
}

function metricsOf(telemetry: NodeTelemetry): { contentType: string; read: () => string } {
  return { contentType: prometheusContentType, read: () => telemetry.toPrometheus() };
}

/** Reads changed files anew, for as long as the node runs. */
function keepConfiguration({ settings, log, put, state }: NodeParts, environment: Environment): Promise<Closable> {
  const { configurationFiles: files } = settings;
  return watchConfiguration(files, () => loadConfiguration(files, environment), {
    onLoaded(configuration, warnings) {
      put({ configuration, warnings });
      log.info('the configuration was read anew', { files: files.join(', ') });
    },
    onRefused(faults, cause) {
      state.configurationRefused(faults);
      for (const fault of faults) log.error(`configuration refused, the last one stays in force: ${formatFault(fault)}`, cause);
    },
  });
}

/** The watch over the certificate, and the port of the metrics, where there are such. */
async function openDoorsBeside({ settings, log, telemetry }: NodeParts, app: FastifyInstance): Promise<Closable[]> {
  const { host, metricsPort, tls } = settings;
  const opened: Closable[] = [];
  if (tls !== undefined) opened.push(watchTls(tls, app.server as unknown as Server, log));
  if (metricsPort !== undefined) opened.push(await serveMetrics({ host, port: metricsPort, ...metricsOf(telemetry) }));
  return opened;
}

function stopOnSignals({ settings, state, log }: NodeParts, { app, openCalls }: Service, close: () => Promise<void>): void {
  const exit = (code: number): void => process.exit(code);
  const drain = new Drain({ server: app.server, calls: openCalls, clock, log, drainMs: settings.drainMs, close, exit });
  process.on('SIGTERM', drain.signalled).on('SIGINT', drain.signalled);
  process.on('unhandledRejection', (reason) => log.error('a promise failed unheard', reason));
  state.started(() => drain.isDraining);
}

/** The configuration to start with. Throws SettingFault with every fault of it. */
async function acceptedConfiguration(
  files: readonly string[],
  environment: Environment,
  local: Parameters<typeof firstConfiguration>[2],
): Promise<Accepted> {
  const loaded = await firstConfiguration(files, environment, local);
  if ('faults' in loaded)
    throw new SettingFault(`the configuration cannot be used\n${loaded.faults.map(formatFault).join('\n')}`);
  return loaded;
}

/** Listens; gives the address that others reach it by. Throws SettingFault where the port cannot be had. */
async function listen(app: FastifyInstance, { host, port, tls }: Settings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'EADDRINUSE') throw new SettingFault(`port ${port} of ${host} is in use; choose another with --port`);
    if (code === 'EACCES')
      throw new SettingFault(`port ${port} may not be used by this process; choose one above 1023 with --port`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new SettingFault(`${host} is no address of this machine; choose another with --host`);
    throw thrown;
  }
  const { port: bound } = app.server.address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${tls === undefined ? 'http' : 'https'}://${shown.includes(':') ? `[${shown}]` : shown}:${bound}`;
}

/** The lines for the person who started it. */
function greet(address: string, localKey: string | undefined): void {
  console.log(`Parley listens on ${address}, the reference is at ${address}/docs`);
  if (localKey !== undefined)
    console.log(`No configuration was given: serving the demo, with a key for this start: ${address}/#key=${localKey}`);
}
