import { createServer, type ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { HttpError } from '#base/http/client.ts';
import { Flood, readSlowly } from './slow-reader.ts';
import { ask, clientKinds, clientsOf, Recording, Servers, toPost } from './support.ts';

const text = 'Grüße, '.repeat(10_000);
const forms: readonly (readonly [string, string, Buffer])[] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['gzip under its old name, in capitals', 'X-GZIP', gzipSync(text)],
  ['br', 'br', brotliCompressSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['deflate without its frame', 'deflate', deflateRawSync(text)],
];

describe.each(clientKinds)('a packed reply, read by %s', (_name, Client) => {
  const newClient = clientsOf(Client);

  async function serve(servers: Servers, answer: (response: ServerResponse) => void): Promise<string> {
    const server = createServer((_request, response) => answer(response));
    return `http://127.0.0.1:${await servers.listen(server)}/`;
  }

  it.each(forms)('is unpacked: %s', async (_form, encoding, packed) => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': encoding }).end(packed));
    const heard = await ask(newClient(), url);
    expect([heard.fault, Buffer.from(heard.body, 'latin1').toString() === text]).toEqual([null, true]);
    expect(Object.keys(heard.headers)).not.toEqual(expect.arrayContaining(['content-encoding']));
    expect(heard.headers['content-length']).toBeUndefined();
  });

  it('comes on piece by piece', async () => {
    await using servers = new Servers();
    const packed = gzipSync('one', { finishFlush: 2 });
    const rest = gzipSync(text);
    let go = (): void => undefined;
    const url = await serve(servers, (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(packed);
      go = () => void response.end(rest.subarray(0, 0));
    });
    const heard = new Recording();
    const first = new Promise<string>((resolve) => {
      heard.onBytes = resolve;
    });
    newClient().send(toPost(url, ''), heard);
    expect(await first).toBe('one');
    go();
    expect((await heard.settled).fault).toBeInstanceOf(HttpError);
  });

  it('that has no content ends as one', async () => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end());
    const heard = await ask(newClient(), url);
    expect([heard.fault, heard.body, heard.calls]).toEqual([null, '', ['head', 'end']]);
  });

  it.each([
    ['is something else', Buffer.from('plain text')],
    ['is cut off', gzipSync(text).subarray(0, 40)],
  ])('that %s is a fault', async (_what, bytes) => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes));
    const heard = await ask(newClient(), url);
    expect([heard.fault?.kind, heard.calls.at(-1)]).toEqual(['malformed', 'fail']);
  });

  it.each([
    ['whose connection breaks', 'closed', (response: ServerResponse) => response.destroy()],
    ['that stands still', 'idle_timeout', () => undefined],
  ])('%s is an error after the content before it', async (_what, kind, goOn) => {
    await using servers = new Servers();
    const url = await serve(servers, (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(gzipSync('one', { finishFlush: 2 }));
      setTimeout(() => goOn(response), 20);
    });
    const heard = new Recording();
    const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 300 };
    newClient().send({ ...toPost(url, ''), timeouts }, heard);
    const { fault, body, calls } = await heard.settled;
    expect([fault?.kind, body, calls.at(-1)]).toEqual([kind, 'one', 'fail']);
  });

  it('that unpacks to much more waits for its reader', async () => {
    await using servers = new Servers();
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    const { paused } = await readSlowly(newClient(), url, new Flood(0));
    expect(paused.gotBytes).toBe(0);
  });

  it('delivers no more data after it was canceled', async () => {
    await using servers = new Servers();
    const url = await serve(
      servers,
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50 * 1024 * 1024))),
    );
    const heard = new Recording();
    const exchange = newClient().send(toPost(url, ''), heard);
    const calls = await new Promise<number>((resolve) => {
      heard.onBytes = () => {
        exchange.cancel();
        heard.onBytes = () => undefined;
        setTimeout(() => resolve(heard.calls.length), 50);
      };
    });
    expect(calls).toBe(2);
  });

  it('stays packed for who passes it on', async () => {
    await using servers = new Servers();
    const packed = gzipSync(text);
    const url = await serve(servers, (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed));
    const heard = new Recording();
    newClient().send(toPost(url, '', { keepsEncoding: true }), heard);
    const { body, headers } = await heard.settled;
    expect([body === packed.toString('latin1'), headers['content-encoding']]).toEqual([true, 'gzip']);
  });
});
