import type { LookupAddress } from 'node:dns';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createGuardedFetch, limitBytes } from '#base/net/guarded-fetch.ts';
import { NetGuard } from '#base/net/net-guard.ts';
import { startWebServer } from './support.ts';

describe('createGuardedFetch', () => {
  const fetchWith = (allowed: readonly string[], ...answers: string[]) => {
    const lookups: string[] = [];
    const guard = new NetGuard(allowed, (host, _options, callback) => {
      lookups.push(host);
      const address = answers[Math.min(lookups.length, answers.length) - 1] ?? '';
      callback(null, [{ address, family: 4 }] satisfies LookupAddress[]);
    });
    return { lookups, fetch: createGuardedFetch(guard, 1000) };
  };

  it('connects to the checked address even if the name resolves to another address later', async () => {
    const server = await startWebServer(() => new Response('there'));
    const { fetch, lookups } = fetchWith(['127.0.0.1'], '127.0.0.1', '10.0.0.1');
    const response = await fetch(`http://rebinding.test:${server.port}/`);
    expect([await response.text(), lookups]).toEqual(['there', ['rebinding.test']]);
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00::1'])(
    'does not connect if the name resolves to %s',
    async (address) => {
      const server = await startWebServer(() => new Response());
      const { fetch } = fetchWith([], address);
      await expect(fetch(`http://inside.test:${server.port}/`)).rejects.toMatchObject({ cause: { name: 'BlockedAddressError' } });
      expect(server.seen).toEqual([]);
    },
  );

  it.each(['http://127.0.0.1:8080/', 'http://0x7f.1:8080/', 'http://me:pw@1.1.1.1/', 'file:///etc/passwd', 'data:,x'])(
    'rejects %s',
    async (url) => {
      await expect(fetchWith([]).fetch(url)).rejects.toMatchObject({ name: 'BlockedAddressError' });
    },
  );

  it('does not follow a redirect even if the options request it', async () => {
    const other = await startWebServer(() => new Response());
    const server = await startWebServer(() => Response.redirect(other.url, 302));
    const { fetch } = fetchWith(['127.0.0.1']);
    expect((await fetch(server.url, { redirect: 'follow' })).status).toBe(302);
    expect(other.seen).toEqual([]);
  });

  it('sends the host of the URL and ignores a host header', async () => {
    const server = await startWebServer(() => new Response());
    await fetchWith(['127.0.0.1']).fetch(server.url, { headers: { host: 'inside' } });
    expect(server.seen[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
  });
});

describe('limitBytes', () => {
  const read = async (type: string, pieces: readonly string[], maxBytes = 10) => {
    const errors: string[] = [];
    const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))) as ReadableStream;
    const response = limitBytes(new Response(body, { headers: { 'content-type': type } }), maxBytes, ({ message }) =>
      errors.push(message),
    );
    const text = await response.text().catch(({ kind }) => kind);
    return { text, errors };
  };

  it('passes a body up to the limit and fails for a longer one', async () => {
    expect(await read('application/json', ['12345', '67890'])).toEqual({ text: '1234567890', errors: [] });
    expect(await read('application/json', ['12345', '678901'])).toEqual({
      text: 'too_large',
      errors: ['the reply is larger than 10 bytes'],
    });
  });

  it.each(['\n\n', '\r\n\r\n', '\r\r'])(
    'applies the limit to each event of a stream that separates events with %j',
    async (end) => {
      const events = Array.from({ length: 20 }, () => `data${end}`);
      expect((await read('text/event-stream', events)).errors).toEqual([]);
      expect((await read('text/event-stream', events.join('').split(''))).errors).toEqual([]);
      expect((await read('text/event-stream; charset=utf-8', [...events, '12345678901'])).text).toBe('too_large');
    },
  );

  it('applies the limit to the decompressed body', async () => {
    const compressed = gzipSync('x'.repeat(1_000_000));
    const server = await startWebServer(() => new Response(compressed, { headers: { 'content-encoding': 'gzip' } }));
    const response = await createGuardedFetch(new NetGuard(['127.0.0.1']), 1000)(server.url);
    await expect(limitBytes(response, 100_000).text()).rejects.toMatchObject({ kind: 'too_large' });
  });

  it('returns a response without a body unchanged', () => {
    const response = new Response(null, { status: 204 });
    expect(limitBytes(response, 1)).toBe(response);
  });
});
