import { filterStrings, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type { Authorization } from '#contract/configuration/authorization.ts';
import type { RestTool, RestToolset } from '#contract/quick-app/toolsets.ts';
import { jsonType, type RestTarget, type RestToolDefinition } from '#domain/tools/rest-tool.ts';
import type { OpenApiTools } from './to-rest-tools.ts';
import { toScalarText, toText } from './to-text.ts';

/** Names of the operations to import. By default, all operations are imported. */
export interface OperationSelection {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
}

/** Entries of a quick app's `web_api_toolset`, for review by the user. */
export interface ImportedApi {
  readonly toolsets: readonly RestToolset[];
  /** Omitted operations and remaining tasks. */
  readonly notes: readonly string[];
}

/** Tools with the same authorization. */
interface ToolGroup {
  readonly requiredScheme: RequiredScheme | undefined;
  readonly scopes: Set<string>;
  readonly tools: RestToolDefinition[];
}

const maxNameChars = 64;

/** Creates one toolset per security scheme, because a toolset has one authorization. */
export function toToolsets(api: OpenApiTools, selection: OperationSelection): ImportedApi {
  const notes = api.skipped.map(({ name, reason }) => `${name} was left out: ${reason}.`);
  const groups = new Map<string | undefined, ToolGroup>();
  const usedNames = new Set<string>();
  for (const tool of selectTools(api, selection, notes)) {
    const requiredScheme = chooseScheme(api, tool, notes);
    const group = groups.get(requiredScheme?.name) ?? { requiredScheme, scopes: new Set(), tools: [] };
    for (const scope of requiredScheme?.scopes ?? []) group.scopes.add(scope);
    group.tools.push({ ...tool, name: createFreeName(tool.name, usedNames) });
    groups.set(requiredScheme?.name, group);
  }
  return { toolsets: [...groups.values()].map((group) => toToolset(group, api.title, groups.size)), notes };
}

/** Yields the selected operations. Adds a note for each name of the selection that no operation has. */
function* selectTools(
  { tools }: OpenApiTools,
  { include, exclude = [] }: OperationSelection,
  notes: string[],
): Iterable<RestToolDefinition> {
  const isIn = (names: readonly string[], { name }: RestToolDefinition) =>
    names.includes(name) || names.includes(toValidName(name));
  for (const name of [...(include ?? []), ...exclude]) {
    if (!tools.some((tool) => isIn([name], tool)))
      notes.push(`There is no operation named ${name.slice(0, 100)} that can be a tool.`);
  }
  for (const tool of tools) if ((include === undefined || isIn(include, tool)) && !isIn(exclude, tool)) yield tool;
}

/**
 * Returns the first supported scheme that is sufficient alone. Returns undefined if no scheme is required, or no required one
 * is supported.
 */
function chooseScheme(
  { security, schemes, title }: OpenApiTools,
  tool: RestToolDefinition,
  notes: string[],
): RequiredScheme | undefined {
  const requirements = (security.get(tool) ?? []).filter((requirement) => Object.keys(requirement).length > 0);
  const match = requirements
    .map((requirement) => toRequiredScheme(requirement, schemes))
    .find((candidate) => candidate && toAuthorization(candidate, title));
  if (match === undefined && requirements.length > 0) {
    const alternatives = requirements.map((requirement) => Object.keys(requirement).join(' and ')).join(', or ');
    notes.push(`${tool.name} requires credentials that a quick app cannot send: ${alternatives}.`);
  }
  return match;
}

function toRequiredScheme(requirement: JsonObject, schemes: JsonObject): RequiredScheme | undefined {
  const [[name, scopes], ...otherSchemes] = Object.entries(requirement) as [[string, unknown], ...[string, unknown][]];
  const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  if (otherSchemes.length > 0 || !isJsonObject(scheme)) return undefined;
  return { name, scheme, scopes: filterStrings(scopes) };
}

function toToolset({ requiredScheme, scopes, tools }: ToolGroup, title: string, groupCount: number): RestToolset {
  const authorization =
    requiredScheme === undefined ? null : (toAuthorization({ ...requiredScheme, scopes: [...scopes] }, title) ?? null);
  const name = groupCount === 1 ? title : `${title} (${requiredScheme?.name ?? 'without credentials'})`;
  return { type: 'rest-api', name, authorization, tools: tools.map(toRestApiTool) };
}

/** Returns a valid name that no other tool has. */
function createFreeName(requestedName: string, usedNames: Set<string>): string {
  const validName = toValidName(requestedName);
  let name = validName.slice(0, maxNameChars);
  for (let number = 2; usedNames.has(name); number += 1)
    name = `${validName.slice(0, maxNameChars - String(number).length - 1)}_${number}`;
  usedNames.add(name);
  return name;
}

/** Replaces all characters except letters, digits, `_`, and `-`. */
function toValidName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]+/g, '_') || 'operation';
}

/** A security scheme that an operation requires. */
interface RequiredScheme {
  /** Name in the document. */
  readonly name: string;
  /** Security scheme object of OpenAPI 3.1. */
  readonly scheme: JsonObject;
  readonly scopes: readonly string[];
}

/**
 * Returns the authorization settings for a scheme, or undefined if it is not supported. Secrets are `${NAME}` placeholders,
 * which the user fills in.
 */
function toAuthorization({ name, scheme, scopes }: RequiredScheme, title: string): Authorization | undefined {
  const toPlaceholder = (field: string): string => `\${${toVariableName(`${title} ${name} ${field}`)}}`;
  const kind = `${toScalarText(scheme.type)} ${scheme.type === 'http' ? toScalarText(scheme.scheme)?.toLowerCase() : ''}`.trim();
  switch (kind) {
    case 'apiKey':
      return toApiKey(scheme, toPlaceholder('key'));
    case 'http basic':
      return { type: 'basic', username: toPlaceholder('username'), password: toPlaceholder('password') };
    case 'oauth2':
      return toClientCredentials(scheme, scopes, toPlaceholder) ?? { type: 'bearer', token: toPlaceholder('token') };
    case 'http bearer':
    case 'openIdConnect':
      return { type: 'bearer', token: toPlaceholder('token') };
    default:
      return undefined;
  }
}

function toApiKey(scheme: JsonObject, key: string): Authorization | undefined {
  const name = toText(scheme.name);
  const location = scheme.in;
  return name !== undefined && (location === 'header' || location === 'query')
    ? { type: 'api_key', key, name, location }
    : undefined;
}

function toClientCredentials(
  scheme: JsonObject,
  scopes: readonly string[],
  toPlaceholder: (field: string) => string,
): Authorization | undefined {
  const token_url = toText(toObject(toObject(scheme.flows).clientCredentials).tokenUrl);
  if (token_url === undefined || !/^https?:/i.test(token_url) || !URL.canParse(token_url)) return undefined;
  return {
    type: 'client_id_secret',
    client_id: toPlaceholder('client id'),
    client_secret: toPlaceholder('client secret'),
    token_url,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

/** Converts text such as `My API bearerAuth token` to the name of an environment variable: MY_API_BEARER_AUTH_TOKEN. */
function toVariableName(text: string): string {
  const separated = text.replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  const name = separated
    .replace(/[^a-zA-Z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .toUpperCase();
  const deduplicated = name.replace(/_([A-Z]+)_\1$/, '_$1');
  return /^\d/.test(deduplicated) ? `_${deduplicated}` : deduplicated;
}

/** Converts an operation to an entry of a quick app's `web_api_toolset`. `toRestToolDefinition` reverses this. */
export function toRestApiTool(definition: RestToolDefinition): RestTool {
  const { name, description, parameters, method, url, contentType } = definition;
  return {
    rest_api_method_info: {
      method_url: url,
      method_type: method.toLowerCase(),
      ...(contentType !== jsonType && { content_type: contentType }),
    },
    open_ai_tool: {
      type: 'function',
      function: { name, description, parameters: { ...parameters, type: 'object', properties: toProperties(definition) } },
    },
  };
}

function toProperties({ parameters, arguments: args, constants }: RestToolDefinition): Record<string, JsonObject> {
  const schemas = (parameters.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  const properties: Record<string, JsonObject> = Object.create(null);
  for (const { name, ...target } of args) {
    properties[name] = { ...toSchema(schemas[name] ?? {}), parameter_info: toInfo(target) };
  }
  for (const { value, ...target } of constants)
    properties[createFreePropertyName(target.key, properties)] = { type: null, const: value, parameter_info: toInfo(target) };
  return properties;
}

function toInfo({ location, key, style, explode }: RestTarget): JsonObject {
  return { type: location, key, ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) };
}

/** Replaces `const` with `enum`, because a property with `const` is hidden from the model. */
function toSchema({ const: only, ...schema }: JsonObject): JsonObject {
  return only === undefined ? schema : { ...schema, enum: [only] };
}

function createFreePropertyName(baseName: string, properties: object): string {
  let name = baseName;
  for (let number = 2; name in properties; number += 1) name = `${baseName}_${number}`;
  return name;
}
