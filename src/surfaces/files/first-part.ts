import { malformedForm, PieceReader } from './piece-reader.ts';

/** One part of a form, its bytes yet to come. */
export interface FormPart {
  /** As the part says; undefined where it says none. */
  readonly contentType: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const maxPreambleBytes = 1024;
const maxHeadBytes = 8192;

/** The boundary of a `multipart/form-data` body (RFC 2046, 5.1.1); undefined for other media types. Throws where it is missing or malformed. */
export function toBoundary(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? '')) return undefined;
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw malformedForm('its boundary is missing or malformed');
  return boundary;
}

/** The first part of a form (RFC 7578); what comes behind it is not read. Throws `invalid_request`, also while its bytes are read. */
export async function readFirstPart(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FormPart> {
  const reader = new PieceReader(body, lineEnd);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  await reader.before(delimiter, maxPreambleBytes);
  if ((await reader.exactly(2)) !== '\r\n') throw malformedForm('it has no part, or does not begin with its boundary');
  const fields = toFields(await reader.before(headEnd, maxHeadBytes));
  if (!/^form-data\s*(;|$)/i.test(fields.get('content-disposition') ?? ''))
    throw malformedForm('its first part has no Content-Disposition: form-data');
  if (!/^(|7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? ''))
    throw malformedForm('its first part has a Content-Transfer-Encoding');
  return { contentType: fields.get('content-type'), bytes: content(reader, delimiter) };
}

async function* content(reader: PieceReader, delimiter: Buffer): AsyncGenerator<Uint8Array> {
  yield* reader.piecesBefore(delimiter);
  const behind = await reader.exactly(2);
  if (behind !== '\r\n' && behind !== '--') throw malformedForm('its boundary stands within a part');
}

function toFields(head: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!/^[\w-]+$/.test(name)) throw malformedForm('a header line of its first part is malformed');
    fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}
