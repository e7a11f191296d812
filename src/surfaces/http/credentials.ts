import type { IncomingHttpHeaders } from 'node:http';
import { ParleyError } from '#contract/errors.ts';

/** The key or token a request carries (contract 4). Throws `missing_credentials`, or `ambiguous_credentials` where two differ. */
export function readCredentials(headers: IncomingHttpHeaders): string {
  const key = single(headers['api-key']);
  const bearer = toBearer(headers.authorization);
  if (key !== undefined && bearer !== undefined && key !== bearer) {
    throw new ParleyError('ambiguous_credentials', 'Api-Key and Authorization carry different credentials; send one of them.');
  }
  const credentials = key ?? bearer;
  if (credentials === undefined) {
    throw new ParleyError('missing_credentials', 'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".');
  }
  return credentials;
}

function toBearer(header: string | undefined): string | undefined {
  const match = /^bearer +(\S.*)$/i.exec(header?.trim() ?? '');
  return match?.[1];
}

function single(header: string | string[] | undefined): string | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  return value === undefined || value === '' ? undefined : value;
}
