import { ToolFault } from '#domain/tools/tool.ts';
import { manifestTarget, parseDocument, readOpenApi } from './read-openapi.ts';
import type { OpenApiTools } from './to-rest-tools.ts';
import { type Choice, type ImportedApi, toToolsets } from './to-toolsets.ts';

/** A text that is to be read. */
export interface DocumentTask {
  readonly text: string;
  /** Where it is from. */
  readonly url: string;
  /** Of its operations, those that become entries of a quick app's `web_api_toolset`; absent: all become tools. */
  readonly choice: Choice | undefined;
}

/** What a text turned out to be. */
export type DocumentOutcome =
  | { readonly kind: 'manifest'; readonly target: string }
  | { readonly kind: 'tools'; readonly api: OpenApiTools }
  | { readonly kind: 'toolsets'; readonly imported: ImportedApi }
  | { readonly kind: 'fault'; readonly message: string };

/** Whoever takes the outcome holds up everything else meanwhile. */
const mostChars = 8 * 1024 ** 2;

/** Reads an OpenAPI document, or a plugin manifest. Slow for some texts, and large: to be called in a process of its own. */
export async function readDocument({ text, url, choice }: DocumentTask): Promise<DocumentOutcome> {
  try {
    return requireFew(await read(text, new URL(url), choice));
  } catch (thrown) {
    if (!(thrown instanceof ToolFault)) throw thrown;
    return { kind: 'fault', message: thrown.message };
  }
}

async function read(text: string, url: URL, choice: Choice | undefined): Promise<DocumentOutcome> {
  const document = parseDocument(text);
  const target = manifestTarget(document, url);
  if (target !== undefined) return { kind: 'manifest', target: target.href };
  const api = await readOpenApi(document, url);
  return choice === undefined ? { kind: 'tools', api } : { kind: 'toolsets', imported: toToolsets(api, choice) };
}

function requireFew(outcome: DocumentOutcome): DocumentOutcome {
  if (JSON.stringify(outcome).length <= mostChars) return outcome;
  throw new ToolFault(`its operations come to more than ${mostChars / 1024 ** 2} MiB; leave out those that are not needed`);
}
