import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors.ts';

/** Refuses a body whose announced length is over the limit, before anything of it is read. */
export function refuseLargeBody(request: IncomingMessage, maxBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
}

/** Refuses a body that is not announced as plain JSON. */
export function requireJson(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  const [essence = ''] = (type ?? '').split(';');
  if (essence.trim().toLowerCase() !== 'application/json') {
    throw new ParleyError(
      'unsupported_media_type',
      `The body must be application/json, not ${type ? `"${type.slice(0, 100)}"` : 'of no type'}.`,
    );
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ParleyError(
      'unsupported_media_type',
      `The body must come without a content encoding, not as "${encoding.slice(0, 100)}".`,
    );
  }
}

/** The whole body as text. Throws `payload_too_large` as soon as it grows over the limit, and the signal's reason. */
export function readBody(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxBytes) {
        request.removeAllListeners('data');
        reject(tooLarge(maxBytes));
        return;
      }
      pieces.push(piece);
    });
    request.on('end', () => {
      resolve(pieces.length === 1 ? String(pieces[0]) : Buffer.concat(pieces, bytes).toString('utf8'));
      // The request keeps its listeners as long as the answer runs.
      pieces = [];
    });
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(signal.reason ?? new ParleyError('invalid_request', 'The body broke off before its end.'));
    });
  });
}

function tooLarge(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The body is larger than the ${maxBytes} bytes allowed by security.maxBodyBytes.`);
}
