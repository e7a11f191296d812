import { createHash } from 'node:crypto';
import { tryDecode } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { getBodyKind, type RestTarget } from '#domain/tools/rest-tool.ts';
import { ToolError } from '#domain/tools/tool.ts';

const separators = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' };
const maxDepth = 16;

/** The bytes of a body, and the value of its `Content-Type` header. */
export interface EncodedBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

interface BodyParts {
  readonly contentType: string;
  /** The value of the complete body, if one argument provides it. */
  readonly fullBody: LocatedValue | undefined;
  readonly fields: readonly LocatedValue[];
  /** Credentials that are sent in the body. */
  readonly secrets: JsonObject;
}

/** Serializes a body according to its media type. Throws `ToolError` if the value does not fit the media type. */
export function encodeBody({ contentType, fullBody, fields, secrets }: BodyParts): EncodedBody {
  const kind = getBodyKind(contentType);
  const secretFields = Object.entries(secrets).map(([key, value]): LocatedValue => ({ location: 'body', key, value }));
  if (kind === 'text' || kind === 'bytes' || (kind === 'json' && fullBody !== undefined && !isJsonObject(fullBody.value))) {
    if (secretFields.length > 0) throw new ToolError('The body must be an object.');
    return kind === 'json' ? toJson(contentType, fullBody?.value) : toPlain(contentType, fullBody?.value);
  }
  const allFields = [...listFields(fullBody), ...fields, ...secretFields];
  if (kind === 'json') return toJson(contentType, Object.fromEntries(allFields.map(({ key, value }) => [key, value])));
  // The last field of each name replaces the earlier ones.
  const uniqueFields = [...new Map(allFields.map((field) => [field.key, field])).values()];
  if (kind === 'multipart') return encodeMultipart(uniqueFields);
  const form = new URLSearchParams();
  for (const [name, text] of uniqueFields.flatMap(toPairs)) form.append(name, text.toWellFormed());
  return { bytes: Buffer.from(form.toString()), contentType };
}

function listFields(fullBody: LocatedValue | undefined): LocatedValue[] {
  if (fullBody === undefined) return [];
  if (!isJsonObject(fullBody.value)) throw new ToolError('The body must be an object.');
  return Object.entries(fullBody.value).map(([key, value]) => ({ ...fullBody, location: 'body', key, value }));
}

function toJson(contentType: string, value: unknown): EncodedBody {
  return { bytes: Buffer.from(JSON.stringify(value)), contentType: contentType.includes('*') ? 'application/json' : contentType };
}

function toPlain(contentType: string, value: unknown): EncodedBody {
  const { bytes, type } = toContent(toText(value ?? ''));
  return { bytes, contentType: contentType.includes('*') ? (type ?? 'application/octet-stream') : contentType };
}

interface Part {
  readonly head: string;
  readonly bytes: Buffer;
}

/** Encodes `multipart/form-data` (RFC 7578): one part per field or list item. Objects become JSON. */
function encodeMultipart(fields: readonly LocatedValue[]): EncodedBody {
  const parts = fields.flatMap((field) => (field.isFile === true ? toFileParts(field) : toTextParts(field)));
  // A hash of the parts, so that no part contains the boundary.
  const hash = createHash('sha256');
  for (const { head, bytes } of parts) hash.update(head).update(bytes);
  const boundary = `parley-${hash.digest('hex')}`;
  const chunks = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
  return {
    bytes: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function toFileParts({ key, value }: LocatedValue): Part[] {
  return toItems(value).map((item) => {
    const { bytes, type = 'text/plain; charset=utf-8', name } = toContent(toText(item));
    return { head: `${formatDisposition(key)}; filename="${escapeQuoted(name ?? key)}"\r\nContent-Type: ${type}`, bytes };
  });
}

function toTextParts(field: LocatedValue): Part[] {
  const { key, value, style } = field;
  if (style !== undefined) return toPairs(field).map(([name, text]) => ({ head: formatDisposition(name), bytes: toBytes(text) }));
  return toItems(value).map((item) => {
    const type = typeof item === 'object' ? '\r\nContent-Type: application/json' : '';
    return { head: formatDisposition(key) + type, bytes: toBytes(toText(item)) };
  });
}

function toBytes(text: string): Buffer {
  return Buffer.from(text.toWellFormed());
}

function formatDisposition(name: string): string {
  return `Content-Disposition: form-data; name="${escapeQuoted(name)}"`;
}

function escapeQuoted(name: string): string {
  const escaped: Readonly<Record<string, string>> = { '"': '%22', '\r': '%0D', '\n': '%0A' };
  return name.toWellFormed().replace(/["\r\n]/g, (character) => escaped[character] ?? character);
}

interface FileContent {
  readonly bytes: Buffer;
  /** Media type of the `data:` URL. */
  readonly type: string | undefined;
  readonly name: string | undefined;
}

const dataUrlPattern = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** Decodes a `data:` URL (RFC 2397, also with `;name=`). Other text is returned as the content. */
function toContent(text: string): FileContent {
  const [head, type, parameters = '', base64] = dataUrlPattern.exec(text) ?? [];
  if (head === undefined) return { bytes: Buffer.from(text), type: undefined, name: undefined };
  const data = text.slice(head.length);
  const name = /;(?:file)?name=([^;]*)/i.exec(parameters)?.[1];
  return {
    bytes: base64 === undefined ? Buffer.from(tryDecode(data) ?? data) : Buffer.from(data, 'base64'),
    type: type?.toLowerCase(),
    name: name === undefined || name === '' ? undefined : (tryDecode(name) ?? name),
  };
}

type Pair = readonly [key: string, text: string];

/** A value with its location in the request. */
export interface LocatedValue extends RestTarget {
  readonly value: unknown;
}

/** Returns the key-value pairs of a value for a query or form (OpenAPI 3.1, style values). Null has no pairs. */
export function toPairs({ key, value, style, explode = style === 'form' }: LocatedValue): Pair[] {
  if (style === 'deepObject') return toNested(key, value, maxDepth);
  if (style === undefined || explode || typeof value !== 'object') return toExploded(key, value, style !== undefined);
  const texts = toItems(Array.isArray(value) ? value : Object.entries(value ?? {}).flat()).map(toText);
  return texts.length === 0 ? [] : [[key, texts.join(separators[style])]];
}

/** Returns the items of a list, or the value itself. Omits null. */
function toItems(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item !== null);
}

/** Returns the value as text for a URL or header. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : JSON.stringify(value);
}

/** Repeats the key for list items. If a style is set, each property of an object becomes a separate pair. */
function toExploded(key: string, value: unknown, isStyled: boolean): Pair[] {
  if (isStyled && isJsonObject(value)) return Object.entries(value).flatMap(([name, item]) => toExploded(name, item, false));
  return toItems(value).map((item) => [key, toText(item)]);
}

/**
 * Returns pairs such as `key[name][0]=…`. OpenAPI defines this only for flat objects. Servers accept nested values in the same
 * form.
 */
function toNested(key: string, value: unknown, depth: number): Pair[] {
  if (value === null) return [];
  if (typeof value !== 'object' || depth === 0) return [[key, toText(value)]];
  return Object.entries(value as object).flatMap(([name, item]) => toNested(`${key}[${name}]`, item, depth - 1));
}
