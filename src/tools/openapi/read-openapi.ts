import { parse } from 'yaml';
import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { objectOf, textOf } from './loose.ts';
import { type OpenApiTools, toRestTools } from './to-rest-tools.ts';

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
