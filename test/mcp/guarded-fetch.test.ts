import type { LookupAddress } from 'node:dns';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createGuardedFetch, limitBytes } from '#base/net/guarded-fetch.ts';
import { NetGuard } from '#base/net/net-guard.ts';
import { startWebServer } from './support.ts';

describe('a guarded fetch', () => {
  const fetchWith = (allowed: readonly string[], ...answers: string[]) => {
    const looked: string[] = [];
    const guard = new NetGuard(allowed, (host, _options, callback) => {
      looked.push(host);
      const address = answers[Math.min(looked.length, answers.length) - 1] ?? '';
      callback(null, [{ address, family: 4 }] satisfies LookupAddress[]);
    });
    return { looked, fetch: createGuardedFetch(guard, 1000) };
  };

  it('connects to the address that was checked, though the name’s next answer is another', async () => {
    const server = await startWebServer(() => new Response('there'));
    const { fetch, looked } = fetchWith(['127.0.0.1'], '127.0.0.1', '10.0.0.1');
    const response = await fetch(`http://rebinding.test:${server.port}/`);
    expect([await response.text(), looked]).toEqual(['there', ['rebinding.test']]);
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00::1'])(
    'does not connect where a name stands for %s',
    async (address) => {
      const server = await startWebServer(() => new Response());
      const { fetch } = fetchWith([], address);
      await expect(fetch(`http://inside.test:${server.port}/`)).rejects.toMatchObject({ cause: { name: 'AddressRefusedError' } });
      expect(server.seen).toEqual([]);
    },
  );

  it.each(['http://127.0.0.1:8080/', 'http://0x7f.1:8080/', 'http://me:pw@1.1.1.1/', 'file:///etc/passwd', 'data:,x'])(
    'does not go to %s',
    async (url) => {
      await expect(fetchWith([]).fetch(url)).rejects.toMatchObject({ name: 'AddressRefusedError' });
    },
  );

  it('follows no redirect, whatever it is told', async () => {
    const other = await startWebServer(() => new Response());
    const server = await startWebServer(() => Response.redirect(other.url, 302));
    const { fetch } = fetchWith(['127.0.0.1']);
    expect((await fetch(server.url, { redirect: 'follow' })).status).toBe(302);
    expect(other.seen).toEqual([]);
  });

  it('tells the server the host that was called, whatever the header fields say', async () => {
    const server = await startWebServer(() => new Response());
    await fetchWith(['127.0.0.1']).fetch(server.url, { headers: { host: 'inside' } });
    expect(server.seen[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
  });
});

describe('a bound on what is read', () => {
  const read = async (type: string, pieces: readonly string[], maxBytes = 10) => {
    const faults: string[] = [];
    const body = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))) as ReadableStream;
    const response = limitBytes(new Response(body, { headers: { 'content-type': type } }), maxBytes, ({ message }) =>
      faults.push(message),
    );
    const text = await response.text().catch(({ kind }) => kind);
    return { text, faults };
  };

  it('lets through what is within it, and no byte more', async () => {
    expect(await read('application/json', ['12345', '67890'])).toEqual({ text: '1234567890', faults: [] });
    expect(await read('application/json', ['12345', '678901'])).toEqual({
      text: 'too_large',
      faults: ['the reply is larger than 10 bytes'],
    });
  });

  it.each(['\n\n', '\r\n\r\n', '\r\r'])('holds for each event of a stream that ends them with %j', async (end) => {
    const events = Array.from({ length: 20 }, () => `data${end}`);
    expect((await read('text/event-stream', events)).faults).toEqual([]);
    expect((await read('text/event-stream', events.join('').split(''))).faults).toEqual([]);
    expect((await read('text/event-stream; charset=utf-8', [...events, '12345678901'])).text).toBe('too_large');
  });

  it('holds for what came packed', async () => {
    const packed = gzipSync('x'.repeat(1_000_000));
    const server = await startWebServer(() => new Response(packed, { headers: { 'content-encoding': 'gzip' } }));
    const response = await createGuardedFetch(new NetGuard(['127.0.0.1']), 1000)(server.url);
    await expect(limitBytes(response, 100_000, () => undefined).text()).rejects.toMatchObject({ kind: 'too_large' });
  });

  it('leaves an answer without a body as it is', () => {
    const response = new Response(null, { status: 204 });
    expect(limitBytes(response, 1, () => undefined)).toBe(response);
  });
});
