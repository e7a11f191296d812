import type { HttpClient } from '#base/http/client.ts';
import type { ToolSettings } from '#contract/configuration/service.ts';
import type { ImportDeps } from '#surfaces/applications/import-routes.ts';

const longestLoadMs = 30_000;

/** Imports OpenAPI documents for callers; `guarded` fetches those that are not sent along. The first import loads what reads them. */
export function createImportDocument(guarded: HttpClient, limits: () => ToolSettings): ImportDeps['importDocument'] {
  return async ({ text, url, include, exclude, maxBytes }) => {
    const { importOpenApi } = await import('#tools/openapi/import-openapi.ts');
    const { connectMs, timeoutMs } = limits();
    const from = { http: guarded, connectMs, timeoutMs: Math.min(timeoutMs, longestLoadMs), maxBytes };
    return importOpenApi(text === undefined ? { url, from } : { text, url }, { include, exclude });
  };
}
