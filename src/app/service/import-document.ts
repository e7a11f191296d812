import type { HttpClient } from '#base/http/client.ts';
import type { ToolSettings } from '#contract/configuration/service.ts';
import type { ImportDeps } from '#surfaces/applications/import-routes.ts';
import { importOpenApi } from '#tools/openapi/import-openapi.ts';
import type { OpenApiReader } from '#tools/openapi/openapi-reader.ts';

const longestLoadMs = 30_000;

interface ImportingWith {
  /** Guarded; fetches documents that are not sent along. */
  readonly http: HttpClient;
  readonly reader: OpenApiReader;
  readonly limits: () => ToolSettings;
}

/** Imports OpenAPI documents for callers. */
export function createImportDocument({ http, reader, limits }: ImportingWith): ImportDeps['importDocument'] {
  return ({ text, url, owner, include, exclude, maxBytes }) => {
    const { connectMs, timeoutMs } = limits();
    const from = { http, reader, owner, connectMs, timeoutMs: Math.min(timeoutMs, longestLoadMs), maxBytes };
    return importOpenApi({ text, url, from }, { include, exclude });
  };
}
