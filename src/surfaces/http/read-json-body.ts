import type { IncomingMessage } from 'node:http';
import { parseBody, readBody } from './read-request.ts';

/** The whole body, parsed when it is asked for, by the rules of `parseBody`. Throws `payload_too_large`; what it gives throws `invalid_json`. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  rules?: { readonly allowsProto: boolean },
): Promise<() => unknown> {
  const bytes = await readBody(request, maxBytes);
  return () => parseBody(bytes, rules);
}
