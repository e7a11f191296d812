import { type Documented, type ExampleRequest, type OpenApiDocument, readOperations, toRequests } from '#test/documented.ts';
import { type Schema, SchemaValues } from '../fuzz/from-schema.ts';
import type { RouteInput } from '../fuzz/route-inputs.ts';
import { Random } from '../random.ts';
import { type HostileText, hostileTexts } from './texts.ts';

/** Exponential time shows with 40 characters, quadratic time with 30,000. */
const lengths = [40, 40, 2_000, 30_000];
/** Longer paths and queries are rejected with 431 before a route sees them. */
const maxUrlLength = 12_000;
const listItems = [300, 8_000];

/** Places in a body: the keys and indexes that lead to a text, a list, or an object. */
type Place = readonly (string | number)[];

/**
 * Requests that are valid except for one hostile text or list: in a field of the body, a key, a parameter of the query, or a
 * segment of the path. Bodies are examples of the description, or values of its schemas, so that optional fields are reached.
 */
export class TextInputs {
  readonly #seed: number;
  readonly #key: string;
  readonly #requests: readonly ExampleRequest[];
  readonly #resolve: (reference: string) => Schema;

  constructor(document: OpenApiDocument, { seed, key }: { readonly seed: number; readonly key: string }) {
    this.#seed = seed;
    this.#key = key;
    this.#requests = readOperations(document).flatMap(toRequests);
    this.#resolve = (reference) => (document.components.schemas[reference.split('/').at(-1) ?? ''] ?? {}) as Schema;
  }

  /** Returns the nth input. It is the same for the same seed. */
  at(nth: number): RouteInput {
    const random = new Random(this.#seed * 1_000_003 + nth);
    const base = random.pick(this.#requests);
    const { operation } = base;
    const hostile = random.pick(hostileTexts);
    const isJson = base.body !== undefined && /json/.test(base.body.type);
    const { field, url, body } =
      isJson && random.chance(0.85) ? this.#inBody(base, hostile, random) : inUrl(base, hostile, random);
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
    const method = operation.method.toUpperCase();
    const head = [
      ...[`${method} ${url} HTTP/1.1`, 'host: x', `api-key: ${this.#key}`],
      ...Object.entries(base.headers).map(([name, value]) => `${name}: ${value}`),
      ...(bytes.length === 0 ? [] : ['content-type: application/json']),
      ...(bytes.length > 0 || method !== 'GET' ? [`content-length: ${bytes.length}`] : []),
    ];
    const title = `${method} ${operation.path} ${field}: ${hostile.name}`;
    return {
      title,
      isHead: method === 'HEAD',
      bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]),
    };
  }

  #inBody(base: ExampleRequest, hostile: HostileText, random: Random) {
    const { operation, body, url } = base;
    const schema = operation.requestBody?.content[body?.type ?? '']?.schema as Schema | undefined;
    const isMade = schema !== undefined && random.chance(0.5);
    const value = isMade ? new SchemaValues(random, this.#resolve, 0).make(schema) : structuredClone(body?.value);
    const places = [...listPlaces(value)];
    if (places.length === 0) return { field: 'body', url, body: value };
    const place = random.pick(places);
    return { field: `body.${place.join('.')}`, url, body: withHostile(value, place, (found) => spoil(found, hostile, random)) };
  }
}

function inUrl({ operation, url, body }: ExampleRequest, hostile: HostileText, random: Random) {
  const text = encodeURIComponent(hostile.build(Math.min(random.pick(lengths), maxUrlLength)).toWellFormed()).slice(
    0,
    maxUrlLength,
  );
  const parameters = operation.parameters ?? [];
  const value = body?.value;
  if (parameters.length === 0) return { field: 'query', url: `${url}${url.includes('?') ? '&' : '?'}q=${text}`, body: value };
  const { name, in: kind } = random.pick(parameters);
  if (kind !== 'path')
    return { field: `query.${name}`, url: `${url}${url.includes('?') ? '&' : '?'}${name}=${text}`, body: value };
  return { field: `path.${name}`, url: toHostilePath(operation, name, { url, text }), body: value };
}

/** Replaces one parameter of the path. */
function toHostilePath(
  { path }: Documented,
  name: string,
  { url, text }: { readonly url: string; readonly text: string },
): string {
  const at = path.split('/').indexOf(`{${name}}`);
  const [written = '', query] = url.split('?', 2);
  const replaced = written.split('/').map((segment, index) => (index === at ? text : segment));
  return query === undefined ? replaced.join('/') : `${replaced.join('/')}?${query}`;
}

function* listPlaces(value: unknown, place: Place = []): Iterable<Place> {
  if (typeof value === 'string') yield place;
  if (typeof value !== 'object' || value === null) return;
  yield place;
  for (const [key, inner] of Object.entries(value))
    yield* listPlaces(inner, [...place, Array.isArray(value) ? Number(key) : key]);
}

function withHostile(value: unknown, [first, ...rest]: Place, spoiled: (found: unknown) => unknown): unknown {
  if (first === undefined) return spoiled(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withHostile(item, rest, spoiled) : item));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [first]: withHostile(object[first], rest, spoiled) };
}

/** A text becomes hostile, a list gets very many items, an object gets hostile keys. */
function spoil(found: unknown, hostile: HostileText, random: Random): unknown {
  if (typeof found === 'string') return hostile.build(random.pick(lengths));
  if (Array.isArray(found)) {
    const item: unknown = random.chance(0.5) && found.length > 0 ? found[0] : hostile.build(40);
    return Array.from({ length: random.pick(listItems) }, () => item);
  }
  const text = hostile.build(random.pick([40, 2_000]));
  return {
    ...(found as object),
    ...Object.fromEntries(Array.from({ length: random.pick([1, 300]) }, (_, nth) => [`${text}${nth}`, text])),
  };
}
