import { openFollowing } from '#base/follow-redirects.ts';
import { type HttpClient, HttpFault } from '#base/http/client.ts';
import { readText } from '#base/http/read-reply.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { manifestTarget, readOpenApi } from './read-openapi.ts';
import type { OpenApiTools } from './to-rest-tools.ts';

const mostBytes = 8 * 1024 * 1024;

export interface DocumentSource {
  /** Guarded. */
  readonly http: HttpClient;
  readonly connectMs: number;
  /** Milliseconds for the whole of it. */
  readonly timeoutMs: number;
  /** Of a document; default 8 MiB. */
  readonly maxBytes?: number;
}

/** Fetches an OpenAPI document, or a plugin manifest and the document it points to. Rejects with ToolFault. */
export async function loadOpenApi(url: URL, source: DocumentSource): Promise<OpenApiTools> {
  const signal = AbortSignal.timeout(source.timeoutMs);
  const first = await fetchText(url, source, signal);
  const target = manifestTarget(first.text, first.url);
  const { text, url: documentUrl } = target === undefined ? first : await fetchText(target, source, signal);
  return readOpenApi(text, documentUrl);
}

async function fetchText(
  url: URL,
  { http, connectMs, timeoutMs, maxBytes = mostBytes }: DocumentSource,
  signal: AbortSignal,
): Promise<{ text: string; url: URL }> {
  const request = {
    method: 'GET' as const,
    url,
    headers: { accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.8', 'accept-encoding': 'identity' },
    body: null,
    timeouts: { connectMs, firstByteMs: timeoutMs, idleMs: timeoutMs },
  };
  try {
    const { reply, url: finalUrl } = await openFollowing(http, request, signal);
    const text = await readText(reply, maxBytes);
    if (reply.status !== 200) throw new ToolFault(`its server answered ${reply.status}`);
    return { text, url: finalUrl };
  } catch (thrown) {
    if (thrown instanceof HttpFault) throw new ToolFault(thrown.message, thrown);
    throw thrown instanceof ToolFault ? thrown : new ToolFault(`it did not come within ${timeoutMs / 1000} s`, thrown);
  }
}
