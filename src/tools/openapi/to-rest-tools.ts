import { filterObjects, type JsonObject, toObject } from '#base/json/json.ts';
import { trimEnd, truncate } from '#base/text/truncate.ts';
import type { RestMethod, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { mergeParameters, toArguments, UnsupportedOperation } from './to-arguments.ts';
import { toScalarText, toText } from './to-text.ts';

const maxDescriptionChars = 1000;
const methodsByKey: Readonly<Record<string, RestMethod>> = {
  get: 'GET',
  post: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

/** Tools of an OpenAPI document. */
export interface OpenApiTools {
  readonly title: string;
  readonly tools: readonly RestToolDefinition[];
  /** Operations that cannot become tools, with reasons. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Security requirement objects of the tools' operations. Any one of them is sufficient. Empty for a public operation. */
  readonly security: ReadonlyMap<RestToolDefinition, readonly JsonObject[]>;
  /** Security scheme objects by name. */
  readonly schemes: JsonObject;
}

/**
 * Converts the operations of a dereferenced OpenAPI 3.1 document to tools. Keeps the order of the paths. Server URLs are
 * relative to the document's address.
 */
export function toRestTools(document: JsonObject, documentUrl: URL): OpenApiTools {
  const tools: RestToolDefinition[] = [];
  const skipped: { name: string; reason: string }[] = [];
  const security = new Map<RestToolDefinition, readonly JsonObject[]>();
  for (const [path, item] of Object.entries(toObject(document.paths))) {
    for (const [key, method] of Object.entries(methodsByKey)) {
      const operation = toObject(item)[key];
      if (operation === undefined) continue;
      const entry = { document, documentUrl, path, item: toObject(item), method, operation: toObject(operation) };
      try {
        const tool = toRestTool(entry);
        tools.push(tool);
        security.set(tool, filterObjects(getSecurity(entry)));
      } catch (error) {
        if (!(error instanceof UnsupportedOperation)) throw error;
        skipped.push({ name: getName(entry), reason: error.message });
      }
    }
  }
  const title = toText(toObject(document.info).title) ?? (documentUrl.host || 'API');
  return { title, tools, skipped, security, schemes: toObject(toObject(document.components).securitySchemes) };
}

interface OperationEntry {
  readonly document: JsonObject;
  readonly documentUrl: URL;
  readonly path: string;
  readonly item: JsonObject;
  readonly method: RestMethod;
  readonly operation: JsonObject;
}

function toRestTool(entry: OperationEntry): RestToolDefinition {
  const { path, item, method, operation } = entry;
  const description = toText(operation.description) ?? toText(operation.summary) ?? `${method} ${path}`;
  const security = getSecurity(entry);
  const withoutBody = method === 'GET' ? { ...operation, requestBody: undefined } : operation;
  return {
    name: getName(entry),
    description: truncate(description, maxDescriptionChars),
    ...toArguments(withoutBody, mergeParameters(item.parameters, operation.parameters), path),
    method,
    url: getServerUrl(entry) + path,
    constants: [],
    isPublic: Array.isArray(security) && security.length === 0,
  };
}

function getSecurity({ document, operation }: OperationEntry): unknown {
  return operation.security ?? document.security;
}

function getName({ operation, method, path }: OperationEntry): string {
  const fallbackName = `${method.toLowerCase()}_${path}`.replace(/[^a-zA-Z0-9]+/g, '_').replace(/_$/, '');
  return toText(operation.operationId) ?? fallbackName;
}

function getServerUrl({ document, documentUrl, item, operation, path }: OperationEntry): string {
  const candidates = [operation.servers, item.servers, document.servers].map((servers) => filterObjects(servers)[0]);
  const server = candidates.find((candidate) => candidate !== undefined) ?? { url: '/' };
  const variables = toObject(server.variables);
  const filledUrl = (toScalarText(server.url) ?? '/').replace(
    /\{([^{}]*)\}/g,
    (match, name: string) => toScalarText(toObject(variables[name]).default) ?? match,
  );
  if (filledUrl.includes('{') || !path.startsWith('/') || !URL.canParse(filledUrl, documentUrl)) {
    throw new UnsupportedOperation('its server URL is invalid');
  }
  const url = new URL(filledUrl, documentUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const isRelative = url.protocol === documentUrl.protocol;
    throw new UnsupportedOperation(
      isRelative
        ? 'its server URL is relative, and the address of the document is unknown'
        : `its server uses the unsupported protocol ${url.protocol}`,
    );
  }
  return url.origin + trimEnd(url.pathname, '/');
}
