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
    const pieces: Buffer[] = [];
    let bytes = 0;
    // The request lives as long as its answer: what listens to it is taken off, so that the body is not kept.
    const finish = (): void => void request.off('data', take).off('end', end).off('close', fail);
    const take = (piece: Buffer): void => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes <= maxBytes) return;
      finish();
      reject(tooLarge(maxBytes));
    };
    const end = (): void => {
      finish();
      resolve(pieces.length === 1 ? String(pieces[0]) : Buffer.concat(pieces, bytes).toString('utf8'));
    };
    const fail = (): void => {
      finish();
      reject(signal.reason ?? new ParleyError('invalid_request', 'The body broke off before its end.'));
    };
    request.on('data', take).on('end', end).on('close', fail).on('error', fail);
  });
}

function tooLarge(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The body is larger than the ${maxBytes} bytes allowed here.`);
}
