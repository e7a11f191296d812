import { createHash } from 'node:crypto';
import { toContent } from './file-content.ts';
import { itemsOf, type Placed, toPairs, toText } from './styled-pairs.ts';

interface Part {
  readonly head: string;
  readonly bytes: Buffer;
}

/** `multipart/form-data` (RFC 7578): a part for each field, for each item of a list; objects are JSON. */
export function writeMultipart(fields: readonly Placed[]): { bytes: Buffer; contentType: string } {
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
