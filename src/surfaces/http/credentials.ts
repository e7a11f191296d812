import type { IncomingHttpHeaders } from 'node:http';
import { ParleyError } from '#contract/errors.ts';
import { unauthorized } from '#domain/identify.ts';

/** The key or token a request carries (contract 4). Throws `missing_credentials`, or `ambiguous_credentials` where two differ. `x-api-key` counts only where it is taken. */
export function readCredentials(headers: IncomingHttpHeaders, takesXApiKey = false): string {
  const key = single(headers['api-key']);
  const otherKey = takesXApiKey ? single(headers['x-api-key']) : undefined;
  const bearer = toBearer(headers.authorization);
  const credentials = key ?? otherKey ?? bearer;
  if ([otherKey, bearer].some((other) => other !== undefined && other !== credentials)) {
    const names = takesXApiKey ? 'Api-Key, x-api-key and Authorization' : 'Api-Key and Authorization';
    throw new ParleyError('ambiguous_credentials', `${names} carry different credentials; send one of them.`);
  }
  if (credentials === undefined) {
    throw unauthorized('missing_credentials', 'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".');
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
