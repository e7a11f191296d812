import type { HttpRequest } from '#base/http/client.ts';
import type { JsonObject } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import type { RestLocation, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { Credentials } from '../authorization/authorizer.ts';
import { type LocatedValue, toPairs, toText, type WrittenBody, writeBody } from './write-body.ts';

const notInHeader = /[^\t -~\u0080-\uffff]/;

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
    isNotRepeatable: !idempotent.has(definition.method),
  };
}

/** Methods that have the same effect if a request is sent several times (RFC 9110, 9.2.2). */
const idempotent: ReadonlySet<HttpRequest['method']> = new Set(['GET', 'PUT', 'DELETE']);

/** Returns the constants, then the arguments that do not conflict with a fixed value. */
function collectValues(
  { method, constants, arguments: targets }: RestToolDefinition,
  args: JsonObject,
  fixedQuery: ReadonlySet<string>,
): LocatedValue[] {
  const argumentValues = targets
    .filter(({ name, location }) => Object.hasOwn(args, name) && (args[name] !== null || isInBody(location)))
    .map(({ name, ...target }) => toSendable({ ...target, value: args[name] }, method));
  const constantValues = constants.map((constant) => toSendable(constant, method));
  const reservedSlots = new Set([
    ...constantValues.map(getSlot),
    ...[...fixedQuery].map((key) => getSlot({ location: 'query', key })),
  ]);
  return [...constantValues, ...argumentValues.filter((value) => !reservedSlots.has(getSlot(value)))];
}

function isInBody(location: RestLocation): boolean {
  return location === 'body' || location === 'whole_body';
}

/** A GET has no body, so body values move to the query. */
function toSendable(value: LocatedValue, method: RestToolDefinition['method']): LocatedValue {
  return method === 'GET' && isInBody(value.location) ? { ...value, location: 'query' } : value;
}

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
  if (notInHeader.test(text)) throw new ToolError(`The header field ${key} must not contain line breaks or control characters.`);
  return [key.toLowerCase(), toLatin1(text.toWellFormed())];
}

function toBody(
  definition: RestToolDefinition,
  values: readonly LocatedValue[],
  { body: secrets }: Credentials,
): WrittenBody | null {
  if (definition.method === 'GET') return null;
  const expected = [...definition.arguments, ...definition.constants].map(({ location }) => location);
  const fullBody = values.find(({ location }) => location === 'whole_body');
  const hasFields = expected.includes('body') || Object.keys(secrets).length > 0;
  if (fullBody === undefined && !hasFields) return null;
  const fields = values.filter(({ location }) => location === 'body');
  return writeBody({ contentType: definition.contentType, fullBody, fields, secrets });
}

const placeholder = /\{([^{}]*)\}/g;

/** A URL with `{name}` in its path or query. Values never change the host or the path structure. */
class UrlTemplate {
  readonly #template: string;
  readonly #shape: URL;

  /** Throws `ToolError` if the template is not an HTTP(S) URL, or has a placeholder before its path. */
  constructor(template: string) {
    const [origin = ''] = /^https?:\/\/[^/?#\\]*/i.exec(template) ?? [];
    const example = template.replace(placeholder, 'x');
    if (origin === '' || origin.includes('{') || !URL.canParse(example))
      throw new ToolError('the address of the tool is not well formed');
    this.#template = template;
    this.#shape = new URL(example);
  }

  /** Names with a fixed value or a placeholder in the query. */
  get queryKeys(): ReadonlySet<string> {
    return new Set(this.#shape.searchParams.keys());
  }

  /** Throws `ToolError` if a value is missing or would change the path. */
  fill(values: ReadonlyMap<string, string>): URL {
    const filled = this.#template.replace(placeholder, (_whole, name: string) => {
      const value = values.get(name);
      if (value === undefined || value === '') throw new ToolError(`The argument ${name} is missing.`);
      return encodeText(value);
    });
    const [path = ''] = filled.split(/[?#]/);
    if (path.split('/').some(isDotSegment)) throw new ToolError('An argument that is part of the path must not be "." or "..".');
    const url = new URL(filled);
    if (url.origin !== this.#shape.origin || countSegments(url) !== countSegments(this.#shape)) {
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
