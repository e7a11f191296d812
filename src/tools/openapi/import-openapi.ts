import { type DocumentSource, loadOpenApi } from './load-openapi.ts';
import { readOpenApi } from './read-openapi.ts';
import { type Choice, type ImportedApi, toToolsets } from './to-toolsets.ts';

/** A document that is at hand, or where it is; beside a text, `url` is what servers in it are relative to. */
export type ImportSource = { readonly text: string; readonly url: URL } | { readonly url: URL; readonly from: DocumentSource };

/** Turns an OpenAPI document (2.0, 3.0, 3.1; JSON or YAML) into entries of a quick app's `web_api_toolset`. Rejects with ToolFault. */
export async function importOpenApi(source: ImportSource, choice: Choice): Promise<ImportedApi> {
  const api = 'text' in source ? await readOpenApi(source.text, source.url) : await loadOpenApi(source.url, source.from);
  return toToolsets(api, choice);
}
