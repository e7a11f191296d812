import { once } from 'node:events';
import type { Server } from 'node:https';
import { systemClock } from '#base/clock.ts';
import { trustedNetworks } from '#base/trusted-networks.ts';
import type { Environment } from '#configuration/substitute.ts';
import { AddinGateway } from '#surfaces/addin/gateway.ts';
import { createAddinServer } from '#surfaces/addin/server.ts';
import { Upstream } from '#surfaces/addin/upstream.ts';
import { openLog } from '#telemetry/open-log.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { AddinFlags } from '../cli.ts';
import { Drain } from '../drain.ts';
import { KeptConnections } from '../kept-connections.ts';
import { addressOnce } from '../listening.ts';
import { SettingFault } from '../settings.ts';
import { readTls, watchTls } from '../tls.ts';
import { withoutEchoes } from '../without-echoes.ts';
import { readAddinSettings } from './addin-settings.ts';
import { toRequestLine } from './request-line.ts';

const clock = systemClock;
const bounds = { maxBytes: 64 * 1024 * 1024, wholeBytes: 256 * 1024 };

/** Runs the gateway for browser add-ins until it is told to stop. What keeps it from starting is told on stderr; the process then ends with 1. */
export async function addinCommand(flags: AddinFlags, environment: Environment): Promise<void> {
  try {
    await startGateway(flags, environment);
  } catch (thrown) {
    if (!(thrown instanceof SettingFault)) throw thrown;
    console.error(`parley: ${thrown.message}`);
    process.exit(1);
  }
}

async function startGateway(flags: AddinFlags, environment: Environment): Promise<void> {
  // By default, SIGHUP would end the process without a drain.
  let onHangUp = (): void => undefined;
  process.on('SIGHUP', () => onHangUp());
  const settings = await readAddinSettings(flags, environment);
  const { drainMs, host, logLevel, port, rules, tls, trustedProxies } = settings;
  const { log, lines } = openLog(logLevel, () => []);
  const upstream = new Upstream(settings.upstream);
  const isTold = log.isLevelOn('info');
  const gateway = new AddinGateway({
    upstream,
    rules,
    bounds,
    isTrustedProxy: trustedNetworks(trustedProxies),
    clock,
    onEnd(record) {
      if (isTold || record.fault !== undefined) lines.write(toRequestLine(record, clock.epochMs()));
    },
  });
  const server = createAddinServer(gateway.handle, tls && readTls(tls));
  const connections = new KeptConnections(server as Server);
  const address = await addressOnce(() => once(server.listen(port, host), 'listening'), server, settings);
  const certificate = tls && (await watchTls(tls, server as Server, log));
  const closing = [[upstream, ...(certificate ? [certificate] : [])], [lines]];
  const exit = (code: number): void => process.exit(code);
  const drain = new Drain({ server, connections, calls: gateway, clock, log, drainMs, closing, exit });
  const hear = withoutEchoes(drain.signalled, environment, clock);
  process.on('SIGTERM', hear).on('SIGINT', hear);
  onHangUp = () => log.info('SIGHUP is ignored: restart the gateway to read its models again');
  log.info('listening', { address, version: packageJson.version, upstream: settings.upstream.origin });
  console.log(`The add-in gateway listens on ${address}; the add-in’s base URL is ${address}/msgapi`);
}
