import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { tryParseJson } from '#base/json/json.ts';
import { type Accepted, checkConfiguration, type Refused } from '#configuration/check.ts';
import { findModels, ollamaTagsUrl, type Surroundings } from '#configuration/find-models.ts';
import { loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import { adminRole, defaultRole } from '#contract/roles.ts';
import { type SampleAddress, sampleApplications } from './sample/sample-applications.ts';

const probeMs = 500;
const maxTagsBytes = 1024 * 1024;

/** The configuration of the files, or where none is named the embedded default with what is found on this machine. */
export async function firstConfiguration(
  files: readonly string[],
  environment: Environment,
  { http, ...local }: Local & { readonly http: HttpClient },
): Promise<Accepted | Refused> {
  if (files.length > 0) return loadConfiguration(files, environment);
  return defaultConfiguration({ environment, ollamaTags: await fetchOllamaTags(http) }, local);
}

/** What a local Ollama says it has; undefined where none answers at once. */
async function fetchOllamaTags(http: HttpClient): Promise<unknown> {
  const timeouts = { connectMs: probeMs, firstByteMs: probeMs, idleMs: probeMs };
  const request = { method: 'GET', url: new URL(ollamaTagsUrl), headers: {}, body: null, timeouts } as const;
  try {
    const reply = await openReply(http, request, AbortSignal.timeout(2 * probeMs));
    return tryParseJson(await readText(reply, maxTagsBytes));
  } catch {
    return undefined;
  }
}

/** What this start serves of its own. */
interface Local {
  /** The one key. */
  readonly key: string;
  /** Where the tools of the sample app are; undefined where they are not to be had, and the app is left out. */
  readonly sample: SampleAddress | undefined;
}

const thisMachine = ['127.0.0.0/8', '::1'];

/** What is served where no file is named: a demonstration that needs no network and no key of anyone's, and what else is found. */
export function defaultConfiguration(surroundings: Surroundings, { key, sample }: Local): Accepted | Refused {
  return checkConfiguration({
    models: {
      demo: {
        displayName: 'Demo',
        description: 'Answers by rules, without a language model and without a network.',
        upstreams: [{ protocol: 'demo' }],
      },
      'demo-embeddings': { type: 'embedding', displayName: 'Demo embeddings', upstreams: [{ protocol: 'demo' }] },
      ...findModels(surroundings),
    },
    ...(sample && { applications: sampleApplications(sample) }),
    // Whoever sees the key has started the service: what else runs on this machine is theirs.
    security: { allowPrivateNetworks: thisMachine },
    keys: { local: { project: 'local', key, roles: [defaultRole, adminRole] } },
  });
}
