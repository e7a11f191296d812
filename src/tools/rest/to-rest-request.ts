import type { HttpRequest } from '#base/http/client.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { toLatin1 } from '#base/latin1.ts';
import type { RestPlace, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import type { Credentials } from '../authorization/authorizer.ts';
import { encodeText, UrlTemplate } from './url-template.ts';

interface Placed {
  readonly place: RestPlace;
  readonly key: string;
  readonly value: unknown;
}

const notInHeader = /[^\t -~\u0080-\uffff]/;

/**
 * The request that a tool's arguments make. What the definition does not name is left out; constants win over arguments, and
 * credentials over both. Throws ToolFault if an argument is missing or may not be sent.
 */
export function toRestRequest(
  definition: RestToolDefinition,
  args: JsonObject,
  credentials: Credentials,
): Omit<HttpRequest, 'timeouts'> {
  const template = new UrlTemplate(definition.url);
  const values = placedValues(definition, args, template.queryKeys);
  const at = (place: RestPlace): Placed[] => values.filter((value) => value.place === place && !isCredential(value, credentials));
  const url = template.fill(new Map(at('path').map(({ key, value }) => [key, toText(value)])));
  const credentialQuery = Object.entries(credentials.query).map(([key, value]) => ({ place: 'query' as const, key, value }));
  const query = [...at('query'), ...credentialQuery]
    .flatMap(toPairs)
    .map(([key, value]) => `${encodeText(key)}=${encodeText(value)}`);
  if (query.length > 0) url.search = [url.search.slice(1), ...query].filter((part) => part !== '').join('&');
  const body = toBody(definition, [...at('body'), ...at('whole-body')], credentials);
  return {
    method: definition.method,
    url,
    headers: {
      accept: 'application/json, text/*;q=0.9, */*;q=0.8',
      'accept-encoding': 'identity',
      ...(body !== null && { 'content-type': contentTypes[definition.bodyKind] }),
      ...Object.fromEntries(at('header').map(toHeader)),
      ...credentials.headers,
    },
    body,
    isOnce: !idempotent.has(definition.method),
  };
}

/** What these do, they do once however often they are sent (RFC 9110, 9.2.2). */
const idempotent: ReadonlySet<HttpRequest['method']> = new Set(['GET', 'PUT', 'DELETE']);
const contentTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

/** Constants first; arguments only if nothing fixed has their place. */
function placedValues(
  { method, constants, arguments: places }: RestToolDefinition,
  args: JsonObject,
  fixedQuery: ReadonlySet<string>,
): Placed[] {
  const given = places
    .filter(({ name, place }) => Object.hasOwn(args, name) && (args[name] !== null || isInBody(place)))
    .map(({ name, place, key, separator }) => sendable({ place, key, value: joined(args[name], separator) }, method));
  const fixed = constants.map((constant) => sendable(constant, method));
  const taken = new Set([...fixed.map(slot), ...[...fixedQuery].map((key) => slot({ place: 'query', key }))]);
  return [...fixed, ...given.filter((value) => !taken.has(slot(value)))];
}

function joined(value: unknown, separator: string | undefined): unknown {
  return separator !== undefined && Array.isArray(value) ? value.map(toText).join(separator) : value;
}

function isInBody(place: RestPlace): boolean {
  return place === 'body' || place === 'whole-body';
}

/** A GET has no body (contract: points read two ways). */
function sendable(value: Placed, method: RestToolDefinition['method']): Placed {
  return method === 'GET' && isInBody(value.place) ? { ...value, place: 'query' } : value;
}

function slot({ place, key }: Pick<Placed, 'place' | 'key'>): string {
  return `${place} ${place === 'header' ? key.toLowerCase() : key}`;
}

function isCredential({ place, key }: Placed, { headers, query, body }: Credentials): boolean {
  if (place === 'header') return Object.hasOwn(headers, key.toLowerCase());
  if (place === 'query') return Object.hasOwn(query, key);
  return place === 'body' && Object.hasOwn(body, key);
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : JSON.stringify(value);
}

/** Arrays are repeated. */
function toPairs({ key, value }: Placed): [string, string][] {
  const items = Array.isArray(value) ? value : [value];
  return items.filter((item) => item !== null).map((item) => [key, toText(item)]);
}

function toHeader({ key, value }: Placed): [string, string] {
  const text = toText(value);
  if (notInHeader.test(text)) throw new ToolFault(`The header field ${key} may not hold line breaks or control characters.`);
  return [key.toLowerCase(), toLatin1(text.toWellFormed())];
}

function toBody(definition: RestToolDefinition, values: readonly Placed[], credentials: Credentials): Buffer | null {
  const isExpected = [...definition.arguments, ...definition.constants].some(({ place }) => isInBody(place));
  const secrets = Object.entries(credentials.body);
  if (definition.method === 'GET' || (!isExpected && secrets.length === 0)) return null;
  const whole = values.find(({ place }) => place === 'whole-body')?.value;
  if (whole !== undefined && !isJsonObject(whole)) return toWholeBody(whole, definition.bodyKind, secrets);
  const fields = values.filter(({ place }) => place === 'body').map(({ key, value }) => [key, value] as const);
  const all = Object.fromEntries([...Object.entries(whole ?? {}), ...fields, ...secrets]);
  return Buffer.from(definition.bodyKind === 'json' ? JSON.stringify(all) : toForm(all));
}

function toWholeBody(value: unknown, kind: RestToolDefinition['bodyKind'], secrets: readonly unknown[]): Buffer {
  if (kind === 'form' || secrets.length > 0) throw new ToolFault('The body must be an object.');
  return Buffer.from(JSON.stringify(value));
}

function toForm(fields: JsonObject): string {
  const form = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) {
    for (const [name, text] of toPairs({ place: 'body', key, value })) form.append(name, text);
  }
  return form.toString();
}
