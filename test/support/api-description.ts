import { listApiOperations } from '#app/service/features.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { toOpenApi } from '#surfaces/ops/openapi-document.ts';
import type { OpenApiDocument } from './documented.ts';

const descriptions = new Map<string, OpenApiDocument>();

/** Returns the content of `/openapi.json`. Equal aliases return the identical object. */
export function describeApi(aliases: Configuration['aliases'] = { compat: [], msgapi: [] }): OpenApiDocument {
  const key = JSON.stringify(aliases);
  const cached = descriptions.get(key);
  if (cached !== undefined) return cached;
  const document = JSON.parse(JSON.stringify(toOpenApi(listApiOperations({ aliases }), '1.2.3'))) as OpenApiDocument;
  descriptions.set(key, document);
  return document;
}
