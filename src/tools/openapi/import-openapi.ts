import { type DocumentSource, loadDocument, refuseManifest } from './load-openapi.ts';
import type { Choice, ImportedApi } from './to-toolsets.ts';

/** A document that is at hand, or where it is; beside a text, `url` is what servers in it are relative to. */
export interface ImportSource {
  readonly text: string | undefined;
  readonly url: URL;
  readonly from: DocumentSource;
}

/** Turns an OpenAPI document (2.0, 3.0, 3.1; JSON or YAML) into entries of a quick app's `web_api_toolset`. Rejects with ToolFault, with IsolationFault `busy`. */
export async function importOpenApi({ text, url, from }: ImportSource, choice: Choice): Promise<ImportedApi> {
  const outcome =
    text === undefined ? await loadDocument(url, from, choice) : await from.reader.read({ text, url, choice, owner: from.owner });
  return outcome.kind === 'toolsets' ? outcome.imported : refuseManifest();
}
