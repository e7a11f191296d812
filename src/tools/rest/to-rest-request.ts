import type { HttpRequest } from '#base/http/client.ts';
import type { JsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import type { RestLocation, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { Credentials } from '../authorization/authorizer.ts';
import { type EncodedBody, encodeBody, type LocatedValue, toPairs, toText } from './encode-body.ts';

const invalidHeaderCharacter = /[^\t -~\u0080-\uffff]/;

/**
 * Creates the request for a tool call. Arguments that the definition does not name are ignored. Constants override arguments,
 * and credentials override both. Throws `ToolError` if an argument is missing or must not be sent.
 */
export function toRestRequest(
  definition: RestToolDefinition,
  args: JsonObject,
  credentials: Credentials,
): Omit<HttpRequest, 'timeouts'> {
  const template = new UrlTemplate(definition.url);
  const values = collectValues(definition, args, template.queryKeys);
  const selectValues = (location: RestLocation): LocatedValue[] =>
    values.filter((value) => value.location === location && !isCredential(value, credentials));
  const url = template.fill(new Map(selectValues('path').map(({ key, value }) => [key, toText(value)])));
  const credentialQuery = Object.entries(credentials.query).map(([key, value]) => ({ location: 'query' as const, key, value }));
  const query = [...selectValues('query'), ...credentialQuery]
    .flatMap(toPairs)
    .map(([key, value]) => `${encodeText(key)}=${encodeText(value)}`);
  if (query.length > 0) url.search = [url.search.slice(1), ...query].filter((part) => part !== '').join('&');
  const body = toBody(definition, [...selectValues('body'), ...selectValues('whole_body')], credentials);
  return {
    method: definition.method,
    url,
    headers: {
      accept: 'application/json, text/*;q=0.9, */*;q=0.8',
      'accept-encoding': 'identity',
      ...(body !== null && { 'content-type': body.contentType }),
      ...Object.fromEntries(selectValues('header').map(toHeader)),
      ...credentials.headers,
    },
    body: body?.bytes ?? null,
    isNotRepeatable: !idempotentMethods.has(definition.method),
  };
}

/** Methods that have the same effect if a request is sent several times (RFC 9110, 9.2.2). */
const idempotentMethods: ReadonlySet<HttpRequest['method']> = new Set(['GET', 'PUT', 'DELETE']);

/** Returns the constants, then the arguments that do not conflict with a fixed value. */
function collectValues(
  { method, constants, arguments: restArguments }: RestToolDefinition,
  args: JsonObject,
  fixedQuery: ReadonlySet<string>,
): LocatedValue[] {
  const argumentValues = restArguments
    .filter(({ name, location }) => Object.hasOwn(args, name) && (args[name] !== null || isInBody(location)))
    .map(({ name, ...target }) => relocate({ ...target, value: args[name] }, method));
  const constantValues = constants.map((constant) => relocate(constant, method));
  const reservedSlots = new Set([
    ...constantValues.map(getSlot),
    ...[...fixedQuery].map((key) => getSlot({ location: 'query', key })),
  ]);
  return [...constantValues, ...argumentValues.filter((value) => !reservedSlots.has(getSlot(value)))];
}

function isInBody(location: RestLocation): boolean {
  return location === 'body' || location === 'whole_body';
}

/** Moves body values of a GET request to the query, because it has no body. */
function relocate(value: LocatedValue, method: RestToolDefinition['method']): LocatedValue {
  return method === 'GET' && isInBody(value.location) ? { ...value, location: 'query' } : value;
}

/** Returns a text that identifies the target of a value in the request. */
function getSlot({ location, key }: Pick<LocatedValue, 'location' | 'key'>): string {
  return `${location} ${location === 'header' ? key.toLowerCase() : key}`;
}

function isCredential({ location, key }: LocatedValue, { headers, query, body }: Credentials): boolean {
  if (location === 'header') return Object.hasOwn(headers, key.toLowerCase());
  if (location === 'query') return Object.hasOwn(query, key);
  return location === 'body' && Object.hasOwn(body, key);
}

function toHeader({ key, value }: LocatedValue): [string, string] {
  const text = toText(value);
  if (invalidHeaderCharacter.test(text))
    throw new ToolError(`The header field ${key} must not contain line breaks or control characters.`);
  return [key.toLowerCase(), toLatin1(text.toWellFormed())];
}

function toBody(
  definition: RestToolDefinition,
  values: readonly LocatedValue[],
  { body: secrets }: Credentials,
): EncodedBody | null {
  if (definition.method === 'GET') return null;
  const targets = [...definition.arguments, ...definition.constants];
  const fullBody = values.find(({ location }) => location === 'whole_body');
  const hasFields = targets.some(({ location }) => location === 'body') || Object.keys(secrets).length > 0;
  if (fullBody === undefined && !hasFields) return null;
  const fields = values.filter(({ location }) => location === 'body');
  return encodeBody({ contentType: definition.contentType, fullBody, fields, secrets });
}

const placeholder = /\{([^{}]*)\}/g;

/** A URL with `{name}` in its path or query. Values never change the host or the path structure. */
class UrlTemplate {
  readonly #template: string;
  /** The URL with `x` as each value. */
  readonly #example: URL;

  /** Throws `ToolError` if the template is not an HTTP(S) URL, or has a placeholder before its path. */
  constructor(template: string) {
    const [origin = ''] = /^https?:\/\/[^/?#\\]*/i.exec(template) ?? [];
    const example = template.replace(placeholder, 'x');
    if (origin === '' || origin.includes('{') || !URL.canParse(example))
      throw new ToolError('the address of the tool is not well formed');
    this.#template = template;
    this.#example = new URL(example);
  }

  /** Names with a fixed value or a placeholder in the query. */
  get queryKeys(): ReadonlySet<string> {
    return new Set(this.#example.searchParams.keys());
  }

  /** Replaces the placeholders. Throws `ToolError` if a value is missing or would change the path. */
  fill(values: ReadonlyMap<string, string>): URL {
    const filled = this.#template.replace(placeholder, (_match, name: string) => {
      const value = values.get(name);
      if (value === undefined || value === '') throw new ToolError(`The argument ${name} is missing.`);
      return encodeText(value);
    });
    const [path = ''] = filled.split(/[?#]/);
    if (path.split('/').some(isDotSegment)) throw new ToolError('An argument that is part of the path must not be "." or "..".');
    const url = new URL(filled);
    if (url.origin !== this.#example.origin || countSegments(url) !== countSegments(this.#example)) {
      throw new ToolError('The arguments would change where the request goes.');
    }
    return url;
  }
}

/** Percent-encodes all characters with a meaning in URLs. Lone surrogates become U+FFFD. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

function countSegments(url: URL): number {
  return url.pathname.split('/').length;
}
