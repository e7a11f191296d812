import { trimEndSlashes } from '#base/http/url-path.ts';
import { filterObjects, type JsonObject } from '#base/json/json.ts';
import type { RestMethod, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { objectOf, shorten, textOf, wordOf } from './loose.ts';
import { mergeParameters, toArguments, UnsupportedOperation } from './to-arguments.ts';

const longestDescription = 1000;
const methods: Readonly<Record<string, RestMethod>> = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' };

/** What a document offers. */
export interface OpenApiTools {
  readonly title: string;
  readonly tools: readonly RestToolDefinition[];
  /** Operations that no tool can be made of, and why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Security requirement objects of the tools' operations, any one of which will do; none for a tool that needs nothing. */
  readonly security: ReadonlyMap<RestToolDefinition, readonly JsonObject[]>;
  /** Security scheme objects by name. */
  readonly schemes: JsonObject;
}

/** The operations of a dereferenced document of OpenAPI 3.1, in its order. Servers are meant relative to the document's address. */
export function toRestTools(document: JsonObject, documentUrl: URL): OpenApiTools {
  const tools: RestToolDefinition[] = [];
  const skipped: { name: string; reason: string }[] = [];
  const security = new Map<RestToolDefinition, readonly JsonObject[]>();
  for (const [path, item] of Object.entries(objectOf(document.paths))) {
    for (const [key, method] of Object.entries(methods)) {
      const operation = objectOf(item)[key];
      if (operation === undefined) continue;
      const found = { document, documentUrl, path, item: objectOf(item), method, operation: objectOf(operation) };
      try {
        const tool = toRestTool(found);
        tools.push(tool);
        security.set(tool, filterObjects(securityOf(found)));
      } catch (thrown) {
        if (!(thrown instanceof UnsupportedOperation)) throw thrown;
        skipped.push({ name: nameOf(found), reason: thrown.message });
      }
    }
  }
  const title = textOf(objectOf(document.info).title) ?? (documentUrl.host || 'API');
  return { title, tools, skipped, security, schemes: objectOf(objectOf(document.components).securitySchemes) };
}

interface Found {
  readonly document: JsonObject;
  readonly documentUrl: URL;
  readonly path: string;
  readonly item: JsonObject;
  readonly method: RestMethod;
  readonly operation: JsonObject;
}

function toRestTool(found: Found): RestToolDefinition {
  const { path, item, method, operation } = found;
  const description = textOf(operation.description) ?? textOf(operation.summary) ?? `${method} ${path}`;
  const security = securityOf(found);
  const withoutBody = method === 'GET' ? { ...operation, requestBody: undefined } : operation;
  return {
    name: nameOf(found),
    description: shorten(description, longestDescription),
    ...toArguments(withoutBody, mergeParameters(item.parameters, operation.parameters), path),
    method,
    url: serverOf(found) + path,
    constants: [],
    isPublic: Array.isArray(security) && security.length === 0,
  };
}

function securityOf({ document, operation }: Found): unknown {
  return operation.security ?? document.security;
}

function nameOf({ operation, method, path }: Pick<Found, 'operation' | 'method' | 'path'>): string {
  const made = `${method.toLowerCase()}_${path}`.replace(/[^a-zA-Z0-9]+/g, '_').replace(/_$/, '');
  return textOf(operation.operationId) ?? made;
}

function serverOf({ document, documentUrl, item, operation, path }: Found): string {
  const given = [operation.servers, item.servers, document.servers].map((servers) => filterObjects(servers)[0]);
  const server = given.find((it) => it !== undefined) ?? { url: '/' };
  const variables = objectOf(server.variables);
  const filled = (wordOf(server.url) ?? '/').replace(
    /\{([^{}]*)\}/g,
    (whole, name: string) => wordOf(objectOf(variables[name]).default) ?? whole,
  );
  if (filled.includes('{') || !path.startsWith('/') || !URL.canParse(filled, documentUrl)) {
    throw new UnsupportedOperation('the address of its server is not well formed');
  }
  const url = new URL(filled, documentUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const isRelative = url.protocol === documentUrl.protocol;
    throw new UnsupportedOperation(
      isRelative
        ? 'its server is relative to the address of the document, which is not known'
        : `its server speaks ${url.protocol}`,
    );
  }
  return url.origin + trimEndSlashes(url.pathname);
}
