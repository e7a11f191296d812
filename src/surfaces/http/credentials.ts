import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors.ts';
import { unauthorized } from '#domain/callers/identify.ts';

/**
 * The key or token a request carries (docs/wire.md, Credentials). Throws `missing_credentials`, or `ambiguous_credentials` if two differ.
 * `x-api-key` counts only if it is taken. Fields that come twice are looked at one by one: of these `headers` drops or joins.
 */
export function readCredentials(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>, takesXApiKey = false): string {
  const { headers, rawHeaders } = request;
  let credentials = toBearer(headers.authorization);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (isNamed(name, 'authorization')) {
      if (value !== headers.authorization) throw ambiguous(takesXApiKey);
    } else if (value !== '' && (isNamed(name, 'api-key') || (takesXApiKey && isNamed(name, 'x-api-key')))) {
      credentials ??= value;
      if (value !== credentials) throw ambiguous(takesXApiKey);
    }
  }
  if (credentials !== undefined) return credentials;
  throw unauthorized('missing_credentials', 'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".');
}

function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

function toBearer(header: string | undefined): string | undefined {
  const match = /^bearer +(\S.*)$/i.exec(header?.trim() ?? '');
  return match?.[1];
}

function ambiguous(takesXApiKey: boolean): ParleyError {
  const names = takesXApiKey ? 'Api-Key, x-api-key and Authorization' : 'Api-Key and Authorization';
  return new ParleyError('ambiguous_credentials', `${names} carry different credentials; send one of them, once.`);
}
