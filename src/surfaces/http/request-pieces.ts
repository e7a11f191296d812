import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors/errors.ts';

const lingerMs = 5_000;

/** The bytes of a body as they come. What is not taken stays with the request. Throws `invalid_request` if it breaks off. */
export async function* piecesOf(request: IncomingMessage): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new ParleyError('invalid_request', 'The body broke off before its end.', { cause });
  }
}

/** Lets what is left of a body run for a moment: its writer reads the answer only if the connection outlives it. */
export function letGo(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), lingerMs);
  request.once('close', () => clearTimeout(timer));
}
