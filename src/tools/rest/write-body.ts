import { createHash } from 'node:crypto';
import { tryDecode } from '#base/http/url-path.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { bodyKindOf, type RestTarget } from '#domain/tools/rest-tool.ts';
import { ToolFault } from '#domain/tools/tool.ts';

const separators = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' };
const maxDepth = 16;

export interface WrittenBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

interface BodyParts {
  readonly contentType: string;
  /** The body itself, where one value is all of it. */
  readonly whole: Placed | undefined;
  readonly fields: readonly Placed[];
  /** Credentials that are sent in the body. */
  readonly secrets: JsonObject;
}

/** A body as its media type has it. Throws ToolFault where the value cannot be written so. */
export function writeBody({ contentType, whole, fields, secrets }: BodyParts): WrittenBody {
  const kind = bodyKindOf(contentType);
  const secretFields = Object.entries(secrets).map(([key, value]): Placed => ({ place: 'body', key, value }));
  if (kind === 'text' || kind === 'bytes' || (kind === 'json' && whole !== undefined && !isJsonObject(whole.value))) {
    if (secretFields.length > 0) throw new ToolFault('The body must be an object.');
    return kind === 'json' ? toJson(contentType, whole?.value) : toPlain(contentType, whole?.value);
  }
  const all = [...fieldsOf(whole), ...fields, ...secretFields];
  if (kind === 'json') return toJson(contentType, Object.fromEntries(all.map(({ key, value }) => [key, value])));
  if (kind === 'multipart') return writeMultipart(lastOfEach(all));
  const form = new URLSearchParams();
  for (const field of lastOfEach(all)) for (const [name, text] of toPairs(field)) form.append(name, text.toWellFormed());
  return { bytes: Buffer.from(form.toString()), contentType };
}

function fieldsOf(whole: Placed | undefined): Placed[] {
  if (whole === undefined) return [];
  if (!isJsonObject(whole.value)) throw new ToolFault('The body must be an object.');
  return Object.entries(whole.value).map(([key, value]) => ({ ...whole, place: 'body', key, value }));
}

/** In their order: what comes later wins. */
function lastOfEach(fields: readonly Placed[]): readonly Placed[] {
  return [...new Map(fields.map((field) => [field.key, field])).values()];
}

function toJson(contentType: string, value: unknown): WrittenBody {
  return { bytes: Buffer.from(JSON.stringify(value)), contentType: contentType.includes('*') ? 'application/json' : contentType };
}

function toPlain(contentType: string, value: unknown): WrittenBody {
  const { bytes, type } = toContent(toText(value ?? ''));
  return { bytes, contentType: contentType.includes('*') ? (type ?? 'application/octet-stream') : contentType };
}

interface Part {
  readonly head: string;
  readonly bytes: Buffer;
}

/** `multipart/form-data` (RFC 7578): a part for each field, for each item of a list; objects are JSON. */
function writeMultipart(fields: readonly Placed[]): { bytes: Buffer; contentType: string } {
  const parts = fields.flatMap((field) => (field.isFile === true ? toFileParts(field) : toTextParts(field)));
  // Made of what it divides, so that no content has it.
  const hash = createHash('sha256');
  for (const { head, bytes } of parts) hash.update(head).update(bytes);
  const boundary = `parley-${hash.digest('hex')}`;
  const written = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
  return {
    bytes: Buffer.concat([...written, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function toFileParts({ key, value }: Placed): Part[] {
  return itemsOf(value).map((item) => {
    const { bytes, type = 'text/plain; charset=utf-8', name } = toContent(toText(item));
    return { head: `${disposition(key)}; filename="${quoted(name ?? key)}"\r\nContent-Type: ${type}`, bytes };
  });
}

function toTextParts(field: Placed): Part[] {
  const { key, value, style } = field;
  if (style !== undefined) return toPairs(field).map(([name, text]) => ({ head: disposition(name), bytes: toBytes(text) }));
  return itemsOf(value).map((item) => {
    const type = typeof item === 'object' ? '\r\nContent-Type: application/json' : '';
    return { head: disposition(key) + type, bytes: toBytes(toText(item)) };
  });
}

function toBytes(text: string): Buffer {
  return Buffer.from(text.toWellFormed());
}

function disposition(name: string): string {
  return `Content-Disposition: form-data; name="${quoted(name)}"`;
}

function quoted(name: string): string {
  const escaped: Readonly<Record<string, string>> = { '"': '%22', '\r': '%0D', '\n': '%0A' };
  return name.toWellFormed().replace(/["\r\n]/g, (sign) => escaped[sign] ?? sign);
}

/** The content of a file, as a model gives it. */
interface FileContent {
  readonly bytes: Buffer;
  /** Media type that a `data:` URL names. */
  readonly type: string | undefined;
  /** What it calls the file. */
  readonly name: string | undefined;
}

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,/i;

/** A text is its own content; a `data:` URL (RFC 2397, also with `;name=`) stands for bytes. */
function toContent(text: string): FileContent {
  const [head, type, parameters = '', base64] = dataUrl.exec(text) ?? [];
  if (head === undefined) return { bytes: Buffer.from(text), type: undefined, name: undefined };
  const rest = text.slice(head.length);
  const name = /;(?:file)?name=([^;]*)/i.exec(parameters)?.[1];
  return {
    bytes: base64 === undefined ? Buffer.from(tryDecode(rest) ?? rest) : Buffer.from(rest, 'base64'),
    type: type?.toLowerCase(),
    name: name === undefined || name === '' ? undefined : (tryDecode(name) ?? name),
  };
}

type Pair = readonly [key: string, text: string];

/** A value with where it goes. */
export interface Placed extends RestTarget {
  readonly value: unknown;
}

/** The pairs of a query or a form that a value makes (OpenAPI 3.1, style values). Null makes none. */
export function toPairs({ key, value, style, explode = style === 'form' }: Placed): Pair[] {
  if (style === 'deepObject') return toNested(key, value, maxDepth);
  if (style === undefined || explode || typeof value !== 'object') return toExploded(key, value, style !== undefined);
  const texts = itemsOf(Array.isArray(value) ? value : Object.entries(value ?? {}).flat()).map(toText);
  return texts.length === 0 ? [] : [[key, texts.join(separators[style])]];
}

/** The items of a list, or the value itself; null is none. */
function itemsOf(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item !== null);
}

/** As it stands in an address or a header. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : JSON.stringify(value);
}

/** Lists repeat the key; objects are pairs of their own where they have a style. */
function toExploded(key: string, value: unknown, isStyled: boolean): Pair[] {
  if (isStyled && isJsonObject(value)) return Object.entries(value).flatMap(([name, item]) => toExploded(name, item, false));
  return itemsOf(value).map((item) => [key, toText(item)]);
}

/** `key[name][0]=…`: OpenAPI says it of flat objects, and servers take the rest in the same way. */
function toNested(key: string, value: unknown, depth: number): Pair[] {
  if (value === null) return [];
  if (typeof value !== 'object' || depth === 0) return [[key, toText(value)]];
  return Object.entries(value as object).flatMap(([name, item]) => toNested(`${key}[${name}]`, item, depth - 1));
}
