import { describe, expect, it } from 'vitest';
import { hello, plainReply, usage } from '#test/chunks.ts';
import { eventsReply, jsonReply } from '#test/scripted-upstream.ts';
import { withKey } from '#test/start-service.ts';
import { chat, getStatus, getStatusesAround, readUsed, replyWithUsage, startLimited } from './support.ts';

const byCost = (costLimit: object) => ({ default: { limits: {}, costLimit } });

describe('a cost limit', () => {
  it('counts all deployments at their prices', async () => {
    await using limited = await startLimited(byCost({ day: 1 }));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(100, 50));
    await chat(service, 'm');
    await chat(service, 'n');
    await chat(service, 'team%2Fm%201');
    expect(await readUsed(service)).toEqual({ dayCostStats: 0.4 });
    upstream.script(eventsReply(...plainReply('hi').slice(0, -1), usage(100, 50)));
    await (await service.stream('m', { messages: hello })).readRest();
    upstream.script(jsonReply({ object: 'list', data: [], usage: { prompt_tokens: 40, total_tokens: 40 } }));
    const path = '/v1/embeddings';
    await service.sendRequest({ path, headers: withKey(), body: { model: 'vectors', input: 'x' } });
    expect(await readUsed(service, 'vectors')).toEqual({ dayCostStats: 1 });
    const { status, error, headers } = await chat(service, 'team%2Fm%201');
    expect([status, error.code]).toEqual([429, 'cost_limit_exceeded']);
    expect(error.message).toBe(
      'Your limit of 1 USD per day is used up (1 of 1). It resets in 13h39m30s, at 2026-07-16T00:00:00Z.',
    );
    expect(headers['retry-after']).toBe('49170');
  });

  it('adds a cost of 0.1 ten times to exactly 1', async () => {
    await using limited = await startLimited(byCost({ day: 1 }));
    const { service, upstream } = limited;
    upstream.script(replyWithUsage(100, 0));
    for (let turn = 0; turn < 10; turn += 1) expect(await getStatus(chat(service))).toBe(200);
    expect(await getStatus(chat(service))).toBe(429);
  });

  it.each([
    ['day', '2026-07-15T23:59:59.999Z', '2026-07-16T00:00:00.000Z'],
    ['week', '2026-07-19T23:59:59.999Z', '2026-07-20T00:00:00.000Z'],
    ['month', '2026-07-31T23:59:59.999Z', '2026-08-01T00:00:00.000Z'],
  ])('applies to one %s of the UTC calendar', async (window, last, next) => {
    await using limited = await startLimited(byCost({ [window]: 0.01 }));
    expect(await getStatusesAround(limited, last, next)).toEqual([200, 429, 200]);
  });

  it('does not count deployments without prices', async () => {
    await using limited = await startLimited(byCost({ day: 0.001 }));
    const { service } = limited;
    for (let turn = 0; turn < 3; turn += 1) expect(await getStatus(chat(service, 'team%2Fm%201'))).toBe(200);
    expect(await readUsed(service)).toEqual({ dayCostStats: 0 });
  });
});
