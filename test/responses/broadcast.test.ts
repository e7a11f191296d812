import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openBroadcast } from '#test/redis-broadcast.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, silence, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startRedis, type TestRedis } from '#test/start-redis.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createClient } from './support.ts';

vi.setConfig({ testTimeout: 30_000 });

const closing: (() => Promise<unknown> | unknown)[] = [];
let stored: ResponseDatabase;
let upstream: ScriptedUpstream;
let redis: TestRedis;
let nodes: readonly TestService[];
let countListeners: () => Promise<unknown>;

beforeAll(async () => {
  stored = await openResponses('PostgreSQL');
  upstream = await startScriptedUpstream(silence);
  redis = await startRedis();
  const slow = { upstreams: [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }], maxRetryAttempts: 1 };
  const configuration = { models: { slow }, keys: { [callerKey]: { project: 'clients' } } };
  const start = async (): Promise<TestService> => {
    const { broadcast, countSubscribers, close } = await openBroadcast(redis.url);
    // Not shared, so that no node polls for responses that other nodes ended. The upstream sends no data, so no data is stored.
    const service = await startService(configuration, { responses: { ...stored.stores(), isShared: false }, broadcast });
    countListeners = countSubscribers;
    closing.push(async () => {
      await service.close();
      close();
    });
    return service;
  };
  nodes = [await start(), await start()];
  await vi.waitFor(async () => expect(await countListeners()).toEqual(['parley:notices:passing', 2]), 10_000);
});
afterAll(async () => {
  for (const close of closing) await close();
  await redis[Symbol.asyncDispose]();
  await upstream.close();
  await stored[Symbol.asyncDispose]();
});

it.each(['cancel', 'delete'] as const)('a node is notified of a %s of its run on another node', async (how) => {
  const [here, there] = nodes.map((node) => createClient(node).responses);
  const words = `to ${how}`;
  const { id } = (await here?.create({ model: 'slow', input: words, background: true, stream: false })) ?? { id: '' };
  const request = await vi.waitFor(() => {
    const found = upstream.requests.find(({ text }) => text.includes(words));
    if (found === undefined) throw new Error('it was not asked yet');
    return found;
  }, 10_000);
  await there?.[how](id);
  expect(await request.closed).toMatchObject({ early: true });
  await vi.waitFor(() => expect(nodes[0]?.inFlightCalls.size).toBe(0), 10_000);
});
