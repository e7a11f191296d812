import { toLatin1 } from '#base/text/bytes.ts';

const textTypes = /^(text\/|application\/(json|xml|yaml|x-yaml|[^;]*\+json|[^;]*\+xml)$)/;

/** Content of a `data:` URL. */
export interface InlineData {
  /** In lower case and without parameters. `text/plain` if the URL has no type. */
  readonly mediaType: string;
  readonly base64: string;
}

/** Reads a `data:` URL (RFC 2397). Returns undefined if it has no data. */
export function readDataUrl(url: string): InlineData | undefined {
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  const data = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim() === 'base64');
  const bytes = decodePercent(data);
  return { mediaType: toMediaType(type.trim()), base64: isBase64 ? bytes : Buffer.from(bytes, 'latin1').toString('base64') };
}

/** Returns the data as text, or undefined if its type is not a text type. */
export function decodeInlineText({ mediaType, base64 }: InlineData): string | undefined {
  return textTypes.test(mediaType) ? Buffer.from(base64, 'base64').toString('utf8') : undefined;
}

function toMediaType(type: string): string {
  return type === 'image/jpg' ? 'image/jpeg' : type || 'text/plain';
}

/** Returns the decoded bytes as latin1. A percent sign without a valid code is a literal one. */
function decodePercent(data: string): string {
  const bytes = toLatin1(data);
  if (!bytes.includes('%')) return bytes;
  return bytes.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
