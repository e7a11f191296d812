import { expect, it } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import type { HttpClient, ReplyListener } from '#base/http/client.ts';
import { LeanClient } from '#base/http/lean-client.ts';
import { toStores } from '#test/start-service.ts';
import { warmUp } from '../../src/app/warm-up.ts';

/** Passes requests on, and notes the status of each reply. */
function noting(client: HttpClient, statuses: Map<string, number[]>): HttpClient {
  return {
    send(request, listener) {
      const passing: ReplyListener = {
        head(status, headers) {
          const { pathname } = request.url;
          statuses.set(pathname, [...(statuses.get(pathname) ?? []), status]);
          listener.head(status, headers);
        },
        bytes: (text) => listener.bytes(text),
        end: () => listener.end(),
        fail: (fault) => listener.fail(fault),
      };
      return client.send(request, passing);
    },
    close: () => client.close(),
  };
}

it('the calls that warm a node up are answered, and counted in none of its stores', async () => {
  const statuses = new Map<string, number[]>();
  const client = new LeanClient();
  const embedder = new LocalEmbedder();
  const reserved: unknown[] = [];
  const stores = toStores({});
  const limits: typeof stores.limits = {
    reserve(...asked) {
      reserved.push(asked);
      return stores.limits.reserve(...asked);
    },
    settle: (...used) => stores.limits.settle(...used),
  };
  await warmUp({ clock: systemClock, http: noting(client, statuses), embedder, stores: { ...stores, limits } });
  client.close();
  await embedder.close();
  // Each call is heard twice: as the node makes it, and as the service under it asks its upstream.
  expect(Object.fromEntries(statuses)).toEqual({ '/v1/chat/completions': Array.from({ length: 24 }, () => 200) });
  expect(reserved).toEqual([]);
});

it('nothing is left listening where a call fails', async () => {
  const embedder = new LocalEmbedder();
  const asked: URL[] = [];
  const failing: HttpClient = {
    send({ url }) {
      asked.push(url);
      throw new Error('no call is made');
    },
    close: () => undefined,
  };
  await warmUp({ clock: systemClock, http: failing, embedder, stores: toStores({}) });
  await embedder.close();
  expect(asked).toHaveLength(1);
  await expect(fetch(asked[0] as URL)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
