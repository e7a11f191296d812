import { createServer, type ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HttpError } from '#base/http/client.ts';
import { Flood, readSlowly } from './slow-reader.ts';
import { clientKinds, createFactory, post, Recording, Servers, toPost } from './support.ts';

const text = 'Grüße, '.repeat(10_000);
const forms: readonly (readonly [string, string, Buffer])[] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['x-gzip in uppercase', 'X-GZIP', gzipSync(text)],
  ['br', 'br', brotliCompressSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['raw deflate', 'deflate', deflateRawSync(text)],
];

describe.each(clientKinds)('compressed reply, read by %s', (_name, Client) => {
  const newClient = createFactory(Client);

  async function serve(servers: Servers, answer: (response: ServerResponse) => void): Promise<string> {
    const server = createServer((_request, response) => answer(response));
    return `http://127.0.0.1:${await servers.listen(server)}/`;
  }

  it.each(forms)('is decompressed: %s', async (_form, encoding, compressed) => {
    await using servers = new Servers();
    const url = await serve(
      servers,
      (response) => void response.writeHead(200, { 'content-encoding': encoding }).end(compressed),
    );
    const recording = await post(newClient(), url);
    expect([recording.error, Buffer.from(recording.body, 'latin1').toString() === text]).toEqual([null, true]);
    expect(Object.keys(recording.headers)).not.toEqual(expect.arrayContaining(['content-encoding']));
    expect(recording.headers['content-length']).toBeUndefined();
  });

  it('is delivered piece by piece', async () => {
    await using servers = new Servers();
    const compressed = gzipSync('one', { finishFlush: 2 });
    const rest = gzipSync(text);
    let finishReply = (): void => undefined;
    const url = await serve(servers, (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(compressed);
      finishReply = () => void response.end(rest.subarray(0, 0));
    });
    const recording = new Recording();
    const first = new Promise<string>((resolve) => {
      recording.onBytes = resolve;
    });
    newClient().send(toPost(url, ''), recording);
    expect(await first).toBe('one');
    finishReply();
    expect((await recording.settled).error).toBeInstanceOf(HttpError);
  });

  it('without content ends without an error', async () => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end());
    const recording = await post(newClient(), url);
    expect([recording.error, recording.body, recording.calls]).toEqual([null, '', ['head', 'end']]);
  });

  it.each([
    ['is not compressed', Buffer.from('plain text')],
    ['is truncated', gzipSync(text).subarray(0, 40)],
  ])('that %s is malformed', async (_what, bytes) => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes));
    const recording = await post(newClient(), url);
    expect([recording.error?.kind, recording.calls.at(-1)]).toEqual(['malformed', 'fail']);
  });

  it.each([
    ['whose connection closes', 'closed', (response: ServerResponse) => response.destroy()],
    ['that stalls', 'idle_timeout', () => undefined],
  ])('%s fails after the content before it', async (_what, kind, endReply) => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('one', { finishFlush: 2 }));
      setTimeout(() => endReply(response), 20);
    });
    const recording = new Recording();
    const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 300 };
    newClient().send({ ...toPost(url, ''), timeouts }, recording);
    const { error, body, calls } = await recording.settled;
    expect([error?.kind, body, calls.at(-1)]).toEqual([kind, 'one', 'fail']);
  });

  it('with a high compression ratio waits for its reader', async () => {
    await using servers = new Servers();
    const compressedZeros = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    const url = await serve(
      servers,
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressedZeros),
    );
    const { paused } = await readSlowly(newClient(), url, new Flood(0));
    expect(paused.gotBytes).toBe(0);
  });

  it('delivers no more data after it was canceled', async () => {
    await using servers = new Servers();
    const url = await serve(
      servers,
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50 * 1024 * 1024))),
    );
    const recording = new Recording();
    const exchange = newClient().send(toPost(url, ''), recording);
    const calls = await new Promise<number>((resolve) => {
      recording.onBytes = () => {
        exchange.cancel();
        recording.onBytes = () => undefined;
        setTimeout(() => resolve(recording.calls.length), 50);
      };
    });
    expect(calls).toBe(2);
  });

  it('stays compressed for a client that keeps the encoding', async () => {
    await using servers = new Servers();
    const compressed = gzipSync(text);
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressed));
    const recording = new Recording();
    newClient().send(toPost(url, '', { keepsEncoding: true }), recording);
    const { body, headers } = await recording.settled;
    expect([body === compressed.toString('latin1'), headers['content-encoding']]).toEqual([true, 'gzip']);
  });
});
