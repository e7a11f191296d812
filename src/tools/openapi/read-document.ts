import { parse } from 'yaml';
import { isJsonObject, JsonError, type JsonObject, parseJson } from '#base/json/json.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { toObject, toText } from './to-object.ts';
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
const maxChars = 8 * 1024 ** 2;

/** Reads an OpenAPI document, or a plugin manifest. Slow for some texts, and large: to be called in a process of its own. */
export async function readDocument({ text, url, choice }: DocumentTask): Promise<DocumentOutcome> {
  try {
    return limitSize(await readOutcome(text, new URL(url), choice));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { kind: 'fault', message: error.message };
  }
}

async function readOutcome(text: string, url: URL, choice: Choice | undefined): Promise<DocumentOutcome> {
  const document = parseDocument(text);
  const target = findManifestTarget(document, url);
  if (target !== undefined) return { kind: 'manifest', target: target.href };
  const api = await readOpenApi(document, url);
  return choice === undefined ? { kind: 'tools', api } : { kind: 'toolsets', imported: toToolsets(api, choice) };
}

function limitSize(outcome: DocumentOutcome): DocumentOutcome {
  if (JSON.stringify(outcome).length <= maxChars) return outcome;
  throw new ToolError(`its operations come to more than ${maxChars / 1024 ** 2} MiB; leave out those that are not needed`);
}

const bounds = { maxDepth: 200, maxNodes: 1_000_000 };
const maxAliases = 100;

/** A text as the object it holds: JSON, or YAML. Throws ToolFault. */
export function parseDocument(text: string): JsonObject {
  const value = /^\s*\{/.test(text) ? parseAsJson(text) : parseAsYaml(text);
  if (!isJsonObject(value)) throw new ToolError('it is neither an OpenAPI document nor a plugin manifest');
  return value;
}

/** The tools of an OpenAPI document (2.0, 3.0, 3.1). Reads nothing else. Rejects with ToolFault. */
export async function readOpenApi(document: JsonObject, url: URL): Promise<OpenApiTools> {
  if (typeof document.openapi !== 'string' && typeof document.swagger !== 'string') {
    throw new ToolError('it is neither an OpenAPI document nor a plugin manifest');
  }
  return toRestTools(await dereferenceDocument(document), url);
}

/** Where a plugin manifest (`ai-plugin.json`) says its OpenAPI document is; undefined if the document is no manifest. */
export function findManifestTarget(manifest: JsonObject, url: URL): URL | undefined {
  const api = toObject(manifest.api);
  const target = toText(api.url);
  if (target === undefined || 'openapi' in manifest || 'swagger' in manifest) return undefined;
  if (!URL.canParse(target, url)) throw new ToolError('the plugin manifest names no address of an OpenAPI document');
  return new URL(target, url);
}

function parseAsJson(text: string): unknown {
  try {
    return parseJson(text, bounds);
  } catch (error) {
    throw error instanceof JsonError ? new ToolError(`it cannot be read: ${error.message}`, error) : error;
  }
}

function parseAsYaml(text: string): unknown {
  try {
    // To look for keys that stand twice, the parser compares each with all before it.
    return parse(text, { maxAliasCount: maxAliases, merge: true, uniqueKeys: false, logLevel: 'error' });
  } catch (error) {
    throw new ToolError('it cannot be read: the text is neither JSON nor YAML', error);
  }
}

/** As OpenAPI 3.1 with every local `$ref` in place, circular if the document is; one that leaves the document is refused. */
async function dereferenceDocument(document: JsonObject): Promise<JsonObject> {
  const { dereference, upgrade } = await import('@scalar/openapi-parser');
  try {
    const { schema, errors = [] } = dereference(upgrade(document).specification);
    const externalReference = errors.find(({ code }) => code === 'EXTERNAL_REFERENCE_NOT_FOUND');
    if (externalReference !== undefined)
      throw new ToolError('it refers to another document ($ref), which is not read; put all of it into one');
    return toObject(schema);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError('it is not a well formed OpenAPI document', error);
  }
}
