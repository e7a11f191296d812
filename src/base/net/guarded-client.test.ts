import type { LookupAddress } from 'node:dns';
import { describe, expect, it, onTestFinished } from 'vitest';
import { neverAborted, startServer } from '#test/rest-tools.ts';
import { UndiciClient } from '#test/undici-client.ts';
import type { HttpClient, HttpClientOptions } from '../http/client.ts';
import { LeanClient } from '../http/lean-client.ts';
import { openReply, readText } from '../http/read-reply.ts';
import { guardClient } from './guarded-client.ts';
import { NetGuard } from './net-guard.ts';

const clients: [name: string, make: (options: HttpClientOptions) => HttpClient][] = [
  ['undici', (options) => new UndiciClient(options)],
  ['lean', (options) => new LeanClient(options)],
];

describe.each(clients)('guardClient over %s', (_name, make) => {
  const get = async (url: string, allowed: readonly string[], answers: readonly string[]) => {
    const lookedUpHosts: string[] = [];
    const guard = new NetGuard(allowed, (host, _options, callback) => {
      lookedUpHosts.push(host);
      const address = answers[Math.min(lookedUpHosts.length, answers.length) - 1] ?? '';
      callback(null, [{ address, family: address.includes(':') ? 6 : 4 }] satisfies LookupAddress[]);
    });
    const client = guardClient(guard, (lookup) => make({ lookup }));
    onTestFinished(() => client.close());
    const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 };
    const reply = await openReply(client, { method: 'GET', url: new URL(url), headers: {}, body: null, timeouts }, neverAborted);
    return { text: await readText(reply, 1000), lookedUpHosts };
  };

  it('connects to the checked address, even if the next lookup returns another', async () => {
    const server = await startServer((request, response) => response.end(request.headers.host));
    const { text, lookedUpHosts } = await get(`http://rebinding.test:${server.port}/`, ['127.0.0.1'], ['127.0.0.1', '10.0.0.1']);
    expect([text, lookedUpHosts]).toEqual([`rebinding.test:${server.port}`, ['rebinding.test']]);
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00:ec2::254'])(
    'does not connect to a name that resolves to %s, and reports the reason',
    async (address) => {
      const server = await startServer((_request, response) => response.end());
      await expect(get(`http://inside.test:${server.port}/`, [], [address])).rejects.toMatchObject({
        kind: 'unsendable',
        message: expect.stringContaining('inside.test is or resolves to a blocked address'),
      });
      expect(server.seen).toEqual([]);
    },
  );

  it.each(['http://127.0.0.1', 'http://[::ffff:7f00:1]', 'http://2130706433', 'http://user:pw@1.1.1.1'])(
    'does not send to %s',
    async (base) => {
      const server = await startServer((_request, response) => response.end());
      const { protocol, host, username } = new URL(base);
      await expect(get(`${protocol}//${username ? 'user:pw@' : ''}${host}:${server.port}/`, [], [])).rejects.toMatchObject({
        kind: 'unsendable',
      });
      expect(server.seen).toEqual([]);
    },
  );
});
