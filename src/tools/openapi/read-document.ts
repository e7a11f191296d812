import { parse } from 'yaml';
import { isJsonObject, JsonError, type JsonObject, parseJson, toObject } from '#base/json/json.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { type OpenApiTools, toRestTools } from './to-rest-tools.ts';
import { toText } from './to-text.ts';
import { type ImportedApi, type OperationSelection, toToolsets } from './to-toolsets.ts';

/** A text to read. */
export interface DocumentTask {
  readonly text: string;
  /** Address of the text. */
  readonly url: string;
  /** The operations to convert to entries of a quick app's `web_api_toolset`. If undefined, all operations become tools. */
  readonly selection: OperationSelection | undefined;
}

/** Outcome of reading a text. */
export type DocumentOutcome =
  | { readonly kind: 'manifest'; readonly target: string }
  | { readonly kind: 'tools'; readonly api: OpenApiTools }
  | { readonly kind: 'toolsets'; readonly imported: ImportedApi }
  | { readonly kind: 'error'; readonly message: string };

/** Maximum number of characters of an outcome, because the service blocks its event loop while it receives one. */
const maxChars = 8 * 1024 ** 2;

/** Reads an OpenAPI document or a plugin manifest. Some texts need much time and memory, so call it in a separate process. */
export async function readDocument({ text, url, selection }: DocumentTask): Promise<DocumentOutcome> {
  try {
    return limitSize(await readOutcome(text, new URL(url), selection));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { kind: 'error', message: error.message };
  }
}

async function readOutcome(text: string, url: URL, selection: OperationSelection | undefined): Promise<DocumentOutcome> {
  const document = parseDocument(text);
  const target = findManifestTarget(document, url);
  if (target !== undefined) return { kind: 'manifest', target: target.href };
  const api = await readOpenApi(document, url);
  return selection === undefined ? { kind: 'tools', api } : { kind: 'toolsets', imported: toToolsets(api, selection) };
}

function limitSize(outcome: DocumentOutcome): DocumentOutcome {
  if (JSON.stringify(outcome).length <= maxChars) return outcome;
  throw new ToolError(`its operations exceed ${maxChars / 1024 ** 2} MiB. Exclude operations that are not needed`);
}

const bounds = { maxDepth: 200, maxNodes: 1_000_000 };
const maxAliases = 100;

/** Parses JSON or YAML to an object. Throws `ToolError`. */
export function parseDocument(text: string): JsonObject {
  const value = /^\s*\{/.test(text) ? parseAsJson(text) : parseAsYaml(text);
  if (!isJsonObject(value)) throw new ToolError('not an OpenAPI document or plugin manifest');
  return value;
}

/** Returns the tools of an OpenAPI document (2.0, 3.0, 3.1). Rejects with `ToolError`. */
export async function readOpenApi(document: JsonObject, url: URL): Promise<OpenApiTools> {
  if (typeof document.openapi !== 'string' && typeof document.swagger !== 'string') {
    throw new ToolError('not an OpenAPI document or plugin manifest');
  }
  return toRestTools(await dereferenceDocument(document), url);
}

/**
 * Returns the document URL of a plugin manifest (`ai-plugin.json`), or undefined for another document. Throws `ToolError` for
 * an invalid URL.
 */
export function findManifestTarget(manifest: JsonObject, url: URL): URL | undefined {
  const target = toText(toObject(manifest.api).url);
  if (target === undefined || 'openapi' in manifest || 'swagger' in manifest) return undefined;
  if (!URL.canParse(target, url)) throw new ToolError('the plugin manifest contains an invalid address of an OpenAPI document');
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
    // Duplicate keys are not detected, because the parser compares each key with all previous ones.
    return parse(text, { maxAliasCount: maxAliases, merge: true, uniqueKeys: false, logLevel: 'error' });
  } catch (error) {
    throw new ToolError('it is not valid JSON or YAML', error);
  }
}

/**
 * Upgrades a document to OpenAPI 3.1 and resolves all local references. The result is circular if the document is. Throws
 * `ToolError` for a reference to another document.
 */
async function dereferenceDocument(document: JsonObject): Promise<JsonObject> {
  const { dereference, upgrade } = await import('@scalar/openapi-parser');
  try {
    const { schema, errors = [] } = dereference(upgrade(document).specification);
    const externalReference = errors.find(({ code }) => code === 'EXTERNAL_REFERENCE_NOT_FOUND');
    if (externalReference !== undefined)
      throw new ToolError('it references another document ($ref), which is not supported. Combine them into one document');
    return toObject(schema);
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError('it is not a valid OpenAPI document', error);
  }
}
