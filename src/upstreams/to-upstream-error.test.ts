import { describe, expect, it } from 'vitest';
import { HttpError } from '#base/http/client.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toUpstreamError } from './to-upstream-error.ts';

describe('toUpstreamError', () => {
  it.each([
    ['ECONNRESET', 'the connection was reset'],
    ['ETIMEDOUT', 'the connection timed out'],
    ['EHOSTUNREACH', 'there is no route to its host'],
    ['ENETUNREACH', 'there is no route to its host'],
    ['ENOTFOUND', 'its host name was not found in DNS'],
    ['CERT_HAS_EXPIRED', 'the TLS handshake failed (CERT_HAS_EXPIRED)'],
    ['EOTHER', 'the connection failed'],
  ])('reports the cause of %s without the address', (code, reason) => {
    const cause = Object.assign(new Error(`connect ${code} 10.0.0.1:443`), { code });
    const error = toUpstreamError(new HttpError('connect', 'no connection', cause)) as UpstreamError;
    expect(error).toBeInstanceOf(UpstreamError);
    expect([error.kind, error.message]).toEqual(['unreachable', `The upstream cannot be reached: ${reason}.`]);
  });

  it('reports the timeout of a connection', () => {
    const error = toUpstreamError(new HttpError('connect_timeout', 'too late')) as UpstreamError;
    expect(error.message).toBe('The upstream cannot be reached: the connection timed out.');
  });
});
