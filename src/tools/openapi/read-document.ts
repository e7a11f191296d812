import { parse } from 'yaml';
import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json/json.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { objectOf, textOf } from './loose.ts';
import { type OpenApiTools, toRestTools } from './to-rest-tools.ts';
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

const bounds = { maxDepth: 200, maxNodes: 1_000_000 };
const maxAliases = 100;

/** A text as the object it holds: JSON, or YAML. Throws ToolFault. */
export function parseDocument(text: string): JsonObject {
  const value = /^\s*\{/.test(text) ? parseAsJson(text) : parseAsYaml(text);
  if (!isJsonObject(value)) throw new ToolFault('it is neither an OpenAPI document nor a plugin manifest');
  return value;
}

/** The tools of an OpenAPI document (2.0, 3.0, 3.1). Reads nothing else. Rejects with ToolFault. */
export async function readOpenApi(document: JsonObject, url: URL): Promise<OpenApiTools> {
  if (typeof document.openapi !== 'string' && typeof document.swagger !== 'string') {
    throw new ToolFault('it is neither an OpenAPI document nor a plugin manifest');
  }
  return toRestTools(await withoutReferences(document), url);
}

/** Where a plugin manifest (`ai-plugin.json`) says its OpenAPI document is; undefined if the document is no manifest. */
export function manifestTarget(manifest: JsonObject, url: URL): URL | undefined {
  const api = objectOf(manifest.api);
  const target = textOf(api.url);
  if (target === undefined || 'openapi' in manifest || 'swagger' in manifest) return undefined;
  if (!URL.canParse(target, url)) throw new ToolFault('the plugin manifest names no address of an OpenAPI document');
  return new URL(target, url);
}

function parseAsJson(text: string): unknown {
  try {
    return parseJson(text, bounds);
  } catch (thrown) {
    throw thrown instanceof JsonFault ? new ToolFault(`it cannot be read: ${thrown.message}`, thrown) : thrown;
  }
}

function parseAsYaml(text: string): unknown {
  try {
    // To look for keys that stand twice, the parser compares each with all before it.
    return parse(text, { maxAliasCount: maxAliases, merge: true, uniqueKeys: false, logLevel: 'error' });
  } catch (thrown) {
    throw new ToolFault('it cannot be read: the text is neither JSON nor YAML', thrown);
  }
}

/** As OpenAPI 3.1 with every local `$ref` in place, circular if the document is; one that leaves the document is refused. */
async function withoutReferences(document: JsonObject): Promise<JsonObject> {
  const { dereference, upgrade } = await import('@scalar/openapi-parser');
  try {
    const { schema, errors = [] } = dereference(upgrade(document).specification);
    const outside = errors.find(({ code }) => code === 'EXTERNAL_REFERENCE_NOT_FOUND');
    if (outside !== undefined)
      throw new ToolFault('it refers to another document ($ref), which is not read; put all of it into one');
    return objectOf(schema);
  } catch (thrown) {
    throw thrown instanceof ToolFault ? thrown : new ToolFault('it is not a well formed OpenAPI document', thrown);
  }
}
