import type { Environment } from '#configuration/substitute.ts';
import { isHttpUrl, isNetwork, isOrigin, isWithoutUser } from '#contract/configuration/values.ts';
import { type AddinModel, type AddinRules, toRules } from '#surfaces/addin/rules.ts';
import type { AddinFlags } from '../cli.ts';
import { readSettings, SettingFault, type Settings } from '../settings.ts';

/** What the add-in gateway is told on its command line and in its environment. */
export interface AddinSettings extends Pick<Settings, 'host' | 'port' | 'tls' | 'drainMs' | 'logLevel'> {
  /** The service's base address. */
  readonly upstream: URL;
  readonly rules: AddinRules;
  /** Trusted proxies, whose `X-Forwarded-*` fields count: addresses and networks. */
  readonly trustedProxies: readonly string[];
}

/** Reads flags, environment and the file of the models. Rejects with SettingFault. */
export async function readAddinSettings(flags: AddinFlags, environment: Environment): Promise<AddinSettings> {
  const { host, port, tlsCert, tlsKey, trustedProxies = [], allowedOrigins } = flags;
  const settings = readSettings({ config: [], data: undefined, host, port, tlsCert, tlsKey }, environment);
  const wrongNetwork = trustedProxies.find((network) => !isNetwork(network));
  if (wrongNetwork !== undefined)
    throw new SettingFault(`--trusted-proxy must be an address, or a network such as 10.0.0.0/8, not "${wrongNetwork}"`);
  const wrongOrigin = allowedOrigins?.find((origin) => !isOrigin(origin));
  if (wrongOrigin !== undefined)
    throw new SettingFault(
      `--allowed-origin must be scheme, host and port as a browser sends them, such as https://addin.example, not "${wrongOrigin}"`,
    );
  const rules = toRules(await modelsOf(flags.models), allowedOrigins);
  return { ...settings, upstream: toUpstream(flags.upstream), rules, trustedProxies };
}

async function modelsOf(file: string | undefined): Promise<readonly AddinModel[]> {
  if (file === undefined) return [];
  // The check of a whole configuration is dear to load, and seldom needed here.
  const { readModels } = await import('./read-models.ts');
  return readModels(file);
}

function toUpstream(text: string): URL {
  if (!isHttpUrl(text)) throw new SettingFault('--upstream must be an address that begins with http:// or https://');
  if (!isWithoutUser(text)) throw new SettingFault('--upstream must not carry a user name or password; the key is the caller’s');
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') throw new SettingFault('--upstream must end with its path, without ? or #');
  // Pattern bound: an address on the command line.
  if (/\/msgapi(\/v1)?\/*$/.test(url.pathname))
    throw new SettingFault('--upstream is the service’s base address, without /msgapi: the gateway appends that itself');
  return url;
}
