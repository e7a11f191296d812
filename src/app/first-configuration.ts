import type { HttpClient } from '#base/http/client.ts';
import { openReply, readText } from '#base/http/read-reply.ts';
import { tryParseJson } from '#base/json.ts';
import type { Accepted, Refused } from '#configuration/check.ts';
import { ollamaTagsUrl } from '#configuration/found-upstreams.ts';
import { loadConfiguration } from '#configuration/load.ts';
import type { Environment } from '#configuration/substitute.ts';
import { defaultConfiguration, type Local } from './default-configuration.ts';

const probeMs = 500;
const maxTagsBytes = 1024 * 1024;

/** The configuration of the files, or where none is named the embedded default with what is found on this machine. */
export async function firstConfiguration(
  files: readonly string[],
  environment: Environment,
  { http, ...local }: Local & { readonly http: HttpClient },
): Promise<Accepted | Refused> {
  if (files.length > 0) return loadConfiguration(files, environment);
  return defaultConfiguration({ environment, ollamaTags: await askOllama(http) }, local);
}

/** What a local Ollama says it has; undefined where none answers at once. */
async function askOllama(http: HttpClient): Promise<unknown> {
  const timeouts = { connectMs: probeMs, firstByteMs: probeMs, idleMs: probeMs };
  const request = { method: 'GET', url: new URL(ollamaTagsUrl), headers: {}, body: null, timeouts } as const;
  try {
    const reply = await openReply(http, request, AbortSignal.timeout(2 * probeMs));
    return tryParseJson(await readText(reply, maxTagsBytes));
  } catch {
    return undefined;
  }
}
