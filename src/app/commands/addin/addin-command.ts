import { once } from 'node:events';
import type { Server } from 'node:https';
import { createNetworkMatcher } from '#base/http/client-address.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';
import { isHttpUrl, isNetwork, isOrigin, isWithoutUser } from '#contract/configuration/values.ts';
import { AddinGateway, type AddinRecord } from '#surfaces/addin/gateway.ts';
import { type AddinModel, type AddinRules, toRules } from '#surfaces/addin/rules.ts';
import { createAddinServer } from '#surfaces/addin/server.ts';
import { Upstream } from '#surfaces/addin/upstream.ts';
import { redact } from '#telemetry/log.ts';
import { openLog } from '#telemetry/open-log.ts';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { AddinFlags } from '../../cli.ts';
import { Drain, ignoreEchoes, TrackedConnections } from '../../process/drain.ts';
import { listenForAddress, readTls, watchTls } from '../../process/listening.ts';
import { getReason, readSettings, SettingError, type Settings } from '../../settings.ts';

const clock = systemClock;
const bounds = { maxBytes: 64 * 1024 * 1024, maxBufferedBytes: 256 * 1024 };

/**
 * Runs the gateway for browser add-ins until a signal stops it. If the gateway cannot start, prints the reason to stderr and
 * exits with 1.
 */
export async function addinCommand(flags: AddinFlags, environment: Environment): Promise<void> {
  try {
    await startGateway(flags, environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`parley: ${error.message}`);
    process.exit(1);
  }
}

async function startGateway(flags: AddinFlags, environment: Environment): Promise<void> {
  // By default, SIGHUP would terminate the process without a drain.
  let onHangUp = (): void => undefined;
  process.on('SIGHUP', () => onHangUp());
  const settings = await readAddinSettings(flags, environment);
  const { drainMs, host, logLevel, port, tls, trustedProxies } = settings;
  let { rules } = settings;
  const { log, lines } = openLog(logLevel, () => []);
  const upstream = new Upstream(settings.upstream);
  const isInfoLogged = log.isLevelOn('info');
  const gateway = new AddinGateway({
    upstream,
    rules: () => rules,
    bounds,
    isTrustedProxy: createNetworkMatcher(trustedProxies),
    clock,
    onEnd(record) {
      if (isInfoLogged || record.error !== undefined) lines.write(toRequestLine(record, clock.epochMs()));
    },
  });
  const server = createAddinServer(gateway.handle, tls && readTls(tls));
  const connections = new TrackedConnections(server as Server);
  const address = await listenForAddress(() => once(server.listen(port, host), 'listening'), server, settings);
  const certificate = tls && (await watchTls(tls, server as Server, log));
  const closeStages = [[upstream, ...(certificate ? [certificate] : [])], [lines]];
  const exit = (code: number): void => process.exit(code);
  const drain = new Drain({ server, connections, calls: gateway, clock, log, drainMs, closeStages, exit });
  const onSignal = ignoreEchoes(drain.handleSignal, environment, clock);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  onHangUp = () => {
    if (flags.models === undefined) return log.info('SIGHUP has no effect without --models');
    readRules(flags)
      .then((newRules) => {
        rules = newRules;
        log.info('models reloaded', { file: flags.models });
      })
      .catch((error) => log.error(`cannot reload the models, the previous ones stay in effect: ${getReason(error)}`, undefined));
  };
  log.info('listening', { address, version: packageJson.version, upstream: settings.upstream.origin });
  console.log(`The add-in gateway listens on ${address}, base URL for the add-in: ${address}/msgapi`);
}

const maxChars = 200;

/**
 * Returns the log line of one request. It contains no key, no query, and no content. Paths and origins come from the client and
 * may contain anything, so they are truncated and redacted.
 */
function toRequestLine(record: AddinRecord, epochMs: number): string {
  const { error, method, ms, origin, outcome, path, requestId, status } = record;
  return `${JSON.stringify({
    level: error === undefined ? 'info' : 'warn',
    time: epochMs,
    msg: 'request',
    method,
    path: toLoggable(path),
    origin: origin && toLoggable(origin),
    status,
    outcome,
    ms: Math.round(ms * 10) / 10,
    request_id: requestId && toLoggable(requestId),
    fault: error?.kind,
    cause: getCode(error?.cause),
  })}\n`;
}

function toLoggable(text: string): string {
  return redact(text.slice(0, maxChars), []);
}

function getCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

/** Settings of the add-in gateway, from the command line and the environment. */
export interface AddinSettings extends Pick<Settings, 'host' | 'port' | 'tls' | 'drainMs' | 'logLevel'> {
  /** Base URL of the service. */
  readonly upstream: URL;
  readonly rules: AddinRules;
  /** Addresses and networks of trusted proxies, whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[];
}

/** Reads flags, environment, and the file of the models. Rejects with SettingError. */
export async function readAddinSettings(flags: AddinFlags, environment: Environment): Promise<AddinSettings> {
  const { host, port, tlsCert, tlsKey, trustedProxies = [], allowedOrigins } = flags;
  const settings = readSettings({ config: [], data: undefined, host, port, tlsCert, tlsKey }, environment);
  const wrongNetwork = trustedProxies.find((network) => !isNetwork(network));
  if (wrongNetwork !== undefined)
    throw new SettingError(`--trusted-proxy must be an IP address, or a network such as 10.0.0.0/8, not "${wrongNetwork}"`);
  const wrongOrigin = allowedOrigins?.find((origin) => !isOrigin(origin));
  if (wrongOrigin !== undefined)
    throw new SettingError(
      `--allowed-origin must be an origin as browsers send it, such as https://addin.example, not "${wrongOrigin}"`,
    );
  return { ...settings, upstream: toUpstream(flags.upstream), rules: await readRules(flags), trustedProxies };
}

/** Reads the file of the models. Rejects with SettingError. */
async function readRules({ models, allowedOrigins }: AddinFlags): Promise<AddinRules> {
  return toRules(await loadModels(models), allowedOrigins);
}

async function loadModels(file: string | undefined): Promise<readonly AddinModel[]> {
  if (file === undefined) return [];
  // The configuration check is expensive to load and rarely needed here.
  const { readModels } = await import('./read-models.ts');
  return readModels(file);
}

function toUpstream(text: string): URL {
  if (!isHttpUrl(text)) throw new SettingError('--upstream must be a URL that starts with http:// or https://');
  if (!isWithoutUser(text))
    throw new SettingError('--upstream must not contain a user name or password. Clients send their own key');
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') throw new SettingError('--upstream must end after its path, without ? or #');
  // Pattern bound: a command-line argument, which the operator writes.
  if (/\/msgapi(\/v1)?\/*$/.test(url.pathname))
    throw new SettingError('--upstream must be the base URL of the service, without /msgapi. The gateway appends /msgapi');
  return url;
}
