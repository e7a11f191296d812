import type { HttpClient } from '#base/http/client.ts';
import type { ToolSettings } from '#contract/configuration/service.ts';
import type { ImportDeps } from '#surfaces/applications/import-routes.ts';
import { importOpenApi } from '#tools/openapi/import-openapi.ts';

const longestLoadMs = 30_000;

/** Imports OpenAPI documents for callers; `guarded` fetches those that are not sent along. */
export function createImportDocument(guarded: HttpClient, limits: () => ToolSettings): ImportDeps['importDocument'] {
  return ({ text, url, include, exclude, maxBytes }) => {
    const { connectMs, timeoutMs } = limits();
    const from = { http: guarded, connectMs, timeoutMs: Math.min(timeoutMs, longestLoadMs), maxBytes };
    return importOpenApi(text === undefined ? { url, from } : { text, url }, { include, exclude });
  };
}
