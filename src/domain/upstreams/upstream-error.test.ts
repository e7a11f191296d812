import { describe, expect, it } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { type Upstream, UpstreamError } from './upstream.ts';
import { maskSecrets, toCallerError, withoutSecrets } from './upstream-error.ts';

const upstream: Upstream = {
  ...{ id: 'u', revision: 'u', protocol: 'openai', apiVersion: undefined, region: undefined, model: 'm', weight: 1, tier: 0 },
  endpoint: new URL('http://u.example/v1?token=in-the-address'),
  key: new Secret('sk-key'),
  headers: { 'x-team': 'in-a-header', 'x-short': 'abc', authorization: 'Bearer behind-a-scheme', 'x-odd': 'a key/with=signs' },
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
};

const createRefusal = (status: number, message: string): UpstreamError => new UpstreamError('refused', message, { status });
const toClientMessage = (error: UpstreamError): string => toCallerError(error, 'm', upstream).message;

describe('toCallerError', () => {
  it.each([
    ['CUDA out of memory', 'CUDA out of memory'],
    ['\nKeyError\nTraceback (most recent call last):\n  File "/opt/app/main.py", line 3', 'KeyError'],
    ["No such file: '/home/model/weights.bin', sorry", "No such file: '…', sorry"],
    ['cannot open C:\\Users\\model\\x.bin for reading', 'cannot open … for reading'],
    ['TypeError: x is undefined at run (file:///srv/app/run.js:3:4)', 'TypeError: x is undefined'],
    ['no route for POST /v1/chat/completions', 'no route for POST /v1/chat/completions'],
    ['see https://status.example/app/today', 'see https://status.example/app/today'],
    [`long ${'x'.repeat(3000)}`, `long ${'x'.repeat(1995)}…`],
  ])('returns a sentence without stack traces and local paths for %j', (message, sentence) => {
    expect(toClientMessage(createRefusal(500, message))).toBe(`The upstream of m failed: ${sentence}`);
    expect(withoutSecrets(new UpstreamError('broken', message), upstream).message).toBe(sentence);
  });

  it.each([400, 404, 413, 422])('returns the complete message of the upstream for status %d', (status) => {
    const message = 'line one\nsee /home/model/schema.json';
    expect(toClientMessage(createRefusal(status, message))).toBe(message);
  });
});

describe('errors that repeat a secret from the request', () => {
  it.each(['sk-key', 'in-a-header', 'behind-a-scheme', 'a%20key%2Fwith%3Dsigns', 'in-the-address', 'per-request-key'])(
    'do not contain %s',
    (secret) => {
      const details = { status: 400, param: `p ${secret}`, code: `c ${secret}`, retryAfterSeconds: 3, cause: new Error(secret) };
      const error = withoutSecrets(new UpstreamError('refused', `key ${secret} of ${secret}`, details), upstream, [
        'per-request-key',
      ]);
      expect(error).toMatchObject({ kind: 'refused', status: 400, retryAfterSeconds: 3, cause: undefined });
      expect([error.message, error.param, error.code]).toEqual(['key *** of ***', 'p ***', 'c ***']);
    },
  );

  it('are not copied if they contain no secret', () => {
    const error = createRefusal(400, 'abc is too short to be masked');
    expect([withoutSecrets(error, upstream), maskSecrets(error, ['secret', ''])]).toEqual([error, error]);
    expect(withoutSecrets(error, upstream)).toBe(error);
  });
});
