import { describe, expect, it } from 'vitest';
import { delta, finish, hello, plainCompletion, text } from '#test/chunks.ts';
import { eventsReply, jsonReply } from '#test/scripted-upstream.ts';
import { chat, readUsed, startLimited } from './support.ts';

const roles = { default: { limits: { '*': { month: 1_000_000 } }, costLimit: { month: 1000 } } };

describe('usage in vendor-specific formats', () => {
  it('includes reasoning tokens that only the total contains', async () => {
    await using limited = await startLimited(roles);
    const { service, upstream } = limited;
    const details = { completion_tokens_details: { reasoning_tokens: 2809 } };
    const usage = { prompt_tokens: 10_120, completion_tokens: 1499, total_tokens: 14_428, ...details };
    upstream.script(jsonReply(plainCompletion('hi', { usage })));
    const { json } = await chat(service);
    expect((json as { usage: object }).usage).toMatchObject({ completion_tokens: 4308, total_tokens: 14_428 });
    expect(await readUsed(service)).toEqual({ monthTokenStats: 14_428, monthCostStats: 18.736 });
  });

  it('is counted if it is inside the last choice of a stream', async () => {
    await using limited = await startLimited(roles);
    const { service, upstream } = limited;
    const { choices, ...head } = finish() as { choices: object[] };
    const usage = { prompt_tokens: 1336, completion_tokens: 31, total_tokens: 1367, cached_tokens: 1280 };
    upstream.script(
      eventsReply(delta({ role: 'assistant', content: '' }), text('hi'), { ...head, choices: [{ ...choices[0], usage }] }),
    );
    const {
      usages: [lastUsage],
    } = await (await service.stream('m', { messages: hello })).readRest();
    expect(lastUsage).toMatchObject({
      prompt_tokens: 1336,
      completion_tokens: 31,
      prompt_tokens_details: { cached_tokens: 1280 },
    });
    expect((await readUsed(service)).monthTokenStats).toBe(1367);
  });
});
