import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { plainCompletion } from '#test/chunks.ts';
import { openResponses } from '#test/response-stores.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService } from '#test/start-service.ts';
import { post } from './support.ts';

const dayMs = 86_400_000;
const sweepMs = 600_000;

afterEach(() => void vi.useRealTimers());

it('a response that expires while another continues it is deleted after that one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const start = Date.now();
  let nowMs = start;
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  await using stored = await openResponses('SQLite');
  await using upstream = await startScriptedUpstream(async (exchange) => {
    if (isHeld) await gate.promise;
    await jsonReply(plainCompletion('Hi'))(exchange);
  });
  const configuration = {
    models: { m: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }] } },
    keys: { [callerKey]: { project: 'clients' } },
    responses: { retentionDays: 1 },
  };
  const clock = { ...systemClock, epochMs: () => nowMs };
  await using service = await startService(configuration, { clock, responses: stored.stores() });
  const create = (fields: object = {}) => post(service, { model: 'm', input: 'Hi', ...fields });
  const rows = () => stored.database.run((kysely) => kysely.selectFrom('responses').select('id').execute());
  const sweep = async () => {
    const before = await rows();
    vi.advanceTimersByTime(sweepMs);
    // The deletion happens before the next queries of the store.
    for (let queryCount = 0; queryCount < 20; queryCount += 1) await rows();
    return [before.length, (await rows()).length];
  };
  const first = (await create()).json as { id: string };
  nowMs = start + dayMs - 5_000;
  isHeld = true;
  const queryCount = upstream.requests.length;
  const exchange = create({ previous_response_id: first.id });
  await upstream.request(queryCount);
  nowMs = start + dayMs + 5_000;
  expect(await sweep()).toEqual([1, 1]);
  expect((await create({ previous_response_id: first.id })).status).toBe(400);
  gate.resolve();
  const second = (await exchange).json as { id: string };
  const third = await create({ previous_response_id: second.id });
  expect(third.status, third.text).toBe(200);
  nowMs = start + 4 * dayMs;
  expect(await sweep()).toEqual([3, 0]);
});
