import { randomBytes } from 'node:crypto';
import { systemClock } from '#base/clock.ts';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { silentTelemetry } from '#domain/telemetry.ts';
import type { ServeFlags } from './cli.ts';
import { composeService } from './compose.ts';
import type { Accepted, Refused } from './configuration/check.ts';
import { formatFault } from './configuration/configuration-fault.ts';
import { defaultConfiguration } from './configuration/default-configuration.ts';
import { loadConfiguration } from './configuration/load.ts';
import { LiveDirectory } from './live-directory.ts';
import { readSettings, type Settings, SettingFault } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a node until it is told to stop. */
export async function serve(flags: ServeFlags, environment: Environment): Promise<void> {
  const settings = readSettings(flags, environment);
  const localKey = `parley-${randomBytes(18).toString('base64url')}`;
  const loaded = await firstConfiguration(settings, environment, localKey);
  if ('faults' in loaded) { for (const f of loaded.faults) console.error(formatFault(f)); process.exitCode = 1; return; }
  const directory = new LiveDirectory(loaded.configuration);
  const http = new LeanClient({});
  const service = composeService({ directory: directory.current, http, clock: systemClock, telemetry: silentTelemetry, embedder: new LocalEmbedder() });
  await service.app.listen({ host: settings.host, port: settings.port });
  console.log(`http://127.0.0.1:${settings.port}/#key=${localKey}`);
}

async function firstConfiguration(settings: Settings, environment: Environment, localKey: string): Promise<Accepted | Refused> {
  if (settings.configurationFiles.length > 0) return loadConfiguration(settings.configurationFiles, environment);
  return defaultConfiguration({ environment, ollamaTags: undefined }, localKey);
}
