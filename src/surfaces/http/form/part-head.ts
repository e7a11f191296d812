import { malformedForm } from './piece-reader.ts';

/** What a part of a form says of itself. */
export interface PartHead {
  /** Empty where it says none. */
  readonly name: string;
  readonly filename: string;
  readonly contentType: string | undefined;
}

/** The header of a part (RFC 7578, 4). Throws `invalid_request`. */
export function toPartHead(text: string): PartHead {
  const fields = toFields(text);
  const disposition = fields.get('content-disposition') ?? '';
  if (!/^form-data\s*(;|$)/i.test(disposition)) throw malformedForm('a part has no Content-Disposition: form-data');
  if (!/^(|7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? ''))
    throw malformedForm('a part has a Content-Transfer-Encoding');
  const parameters = toParameters(disposition);
  return {
    name: parameters.get('name') ?? '',
    filename: parameters.get('filename') ?? parameters.get('filename*') ?? '',
    contentType: fields.get('content-type'),
  };
}

function toFields(head: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!/^[\w-]+$/.test(name)) throw malformedForm('a header line of a part is malformed');
    fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** Quoted values may hold anything, also what looks like a parameter. */
function toParameters(disposition: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of disposition.matchAll(
    /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.){0,2048})"|([^;"]*))/g,
  )) {
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), quoted ?? bare.trim());
  }
  return parameters;
}
