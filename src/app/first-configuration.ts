import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { tryParseJson } from '#base/json/json.ts';
import { checkConfiguration } from '#configuration/check.ts';
import { findModels, type ModelSources, ollamaTagsUrl } from '#configuration/find-models.ts';
import { loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import type { RejectedConfiguration, ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import { adminRole, defaultRole } from '#contract/roles.ts';
import { createSampleApplications, type SampleAddress } from './sample/sample.ts';

/** Name of the key in the default configuration. The key is valid until the process ends. */
export const localKeyName = 'local';

const probeTimeoutMs = 500;
const maxTagsBytes = 1024 * 1024;

/**
 * Returns the configuration of the files. Without files, returns the default configuration with the models found on this machine.
 */
export async function loadFirstConfiguration(
  files: readonly string[],
  environment: Environment,
  { http, ...local }: LocalDefaults & { readonly http: HttpClient },
): Promise<ValidConfiguration | RejectedConfiguration> {
  if (files.length > 0) return loadConfiguration(files, environment);
  return createDefaultConfiguration({ environment, ollamaTags: await fetchOllamaTags(http) }, local);
}

/** Returns the tags response of a local Ollama, or undefined if Ollama does not answer in time. */
async function fetchOllamaTags(http: HttpClient): Promise<unknown> {
  const timeouts = { connectMs: probeTimeoutMs, firstByteMs: probeTimeoutMs, idleMs: probeTimeoutMs };
  const request = { method: 'GET', url: new URL(ollamaTagsUrl), headers: {}, body: null, timeouts } as const;
  try {
    const reply = await openReply(http, request, AbortSignal.timeout(2 * probeTimeoutMs));
    return tryParseJson(await readText(reply, maxTagsBytes));
  } catch {
    return undefined;
  }
}

/** Values that are created at each start. */
interface LocalDefaults {
  /** API key of the default configuration. */
  readonly key: string;
  /** Address of the sample app's tools. If undefined, the configuration has no sample app. */
  readonly sample: SampleAddress | undefined;
}

const loopbackNetworks = ['127.0.0.0/8', '::1'];

/**
 * Returns the configuration without files: a demo that needs no network and no API key of a provider, and the models found on
 * this machine.
 */
export function createDefaultConfiguration(
  sources: ModelSources,
  { key, sample }: LocalDefaults,
): ValidConfiguration | RejectedConfiguration {
  return checkConfiguration({
    models: {
      demo: {
        displayName: 'Demo',
        description: 'Answers by rules, without a language model and without a network.',
        upstreams: [{ protocol: 'demo' }],
      },
      'demo-embeddings': { type: 'embedding', displayName: 'Demo embeddings', upstreams: [{ protocol: 'demo' }] },
      ...findModels(sources),
    },
    ...(sample && { applications: createSampleApplications(sample) }),
    // Only the person who started the service has the key, so tools may reach other services on this machine.
    security: { allowPrivateNetworks: loopbackNetworks },
    keys: { [localKeyName]: { project: 'local', key, roles: [defaultRole, adminRole] } },
  });
}
