import type { IncomingMessage } from 'node:http';
import { duplicateKey } from '#base/json/duplicate-key.ts';
import { formatPath } from '#contract/configuration/fault.ts';
import { requestFault } from '#contract/errors/request-error.ts';
import { parseBody, readBody } from '../../http/read-request.ts';

/** A JSON body as it came, and its value. */
export interface StrictBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

const longestPath = 200;

/** The whole body, parsed when it is asked for. Throws `payload_too_large`; what it gives throws `invalid_json`, and `invalid_request` for a key that stands twice. */
export async function readStrictBody(request: IncomingMessage, maxBytes: number): Promise<() => StrictBody> {
  const bytes = await readBody(request, maxBytes);
  return () => {
    // A copy: what is parsed is freed, and these bytes are stored.
    const value = parseBody(Buffer.from(bytes), { allowsProto: true });
    const twice = duplicateKey(bytes.toString('utf8'));
    if (twice !== undefined) throw requestFault(formatPath(twice).slice(0, longestPath), 'stands twice; send it once');
    return { bytes, value };
  };
}
