import { describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { errorReply } from '#test/scripted-upstream.ts';
import { chat, createConfiguration, getStatus, getStatusesAround, readUsed, replyWithUsage, startLimited } from './support.ts';

describe('a request limit', () => {
  it.each([1, 7, 20])('admits exactly %i of many concurrent calls', async (total) => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: total } } } });
    const { service, upstream } = limited;
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, turn) =>
        turn % 2 === 0 ? getStatus(chat(service)) : (await service.stream('m', { messages: hello })).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(total);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - total);
    expect(upstream.requests).toHaveLength(total);
  });

  it('reports the window, the usage, the reset, and when to retry', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 2, requestHour: 2 } } } });
    const { service } = limited;
    await chat(service);
    await chat(service);
    const { status, error, headers } = await chat(service);
    expect(status).toBe(429);
    expect(error).toEqual({
      type: 'rate_limit_error',
      code: 'request_limit_exceeded',
      param: null,
      message: 'Your limit of 2 requests per hour on m is used up (2 of 2). It resets in 39m30s, at 2026-07-15T11:00:00Z.',
    });
    expect(headers).toMatchObject({
      'retry-after': '2370',
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '39m30s',
    });
  });

  it('rejects a stream before its first byte', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestDay: 1 } } } });
    const { service } = limited;
    await (await service.stream('m', { messages: hello })).readRest();
    const { status, headers } = await service.stream('m', { messages: hello });
    expect(status).toBe(429);
    expect(headers['content-type']).toContain('application/json');
  });

  it.each([
    ['requestMinute', '2026-07-15T10:20:59.999Z', '2026-07-15T10:21:00.000Z'],
    ['requestHour', '2026-07-15T10:59:59.999Z', '2026-07-15T11:00:00.000Z'],
    ['requestDay', '2026-07-15T23:59:59.999Z', '2026-07-16T00:00:00.000Z'],
  ])('applies to one %s window of the UTC calendar', async (window, last, next) => {
    await using limited = await startLimited({ default: { limits: { m: { [window]: 1 } } } });
    expect(await getStatusesAround(limited, last, next)).toEqual([200, 429, 200]);
    expect(await getStatus(chat(limited.service))).toBe(429);
  });

  it('does not count calls that a limit or an earlier check rejects', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 1, requestDay: 9, minute: 1000 } } } });
    const { service } = limited;
    await service.chat('m', { messages: [] });
    await service.chat('m', { messages: hello }, { 'api-key': 'unknown' });
    await chat(service);
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await getStatus(chat(service))).toBe(429);
    expect(await readUsed(service)).toEqual({ minuteRequestStats: 1, dayRequestStats: 1, minuteTokenStats: 12 });
  });

  it('is checked after the body', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 1 } } } });
    const { service } = limited;
    await chat(service);
    expect((await service.chat('m', { messages: [] })).status).toBe(400);
    expect((await chat(service)).status).toBe(429);
  });

  it('counts a request that fails at its upstream, without tokens', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 9, minute: 1000 } } } });
    const { service, upstream } = limited;
    upstream.script(errorReply(500), errorReply(400), replyWithUsage(7, 5));
    const failed = await chat(service);
    expect(failed.status).toBe(500);
    expect(failed.headers).toMatchObject({ 'x-ratelimit-remaining-requests': '8', 'x-ratelimit-remaining-tokens': '1000' });
    await chat(service);
    expect(await readUsed(service)).toEqual({ minuteRequestStats: 2, minuteTokenStats: 0 });
  });

  it('is shared by all keys of a project, and separate for each project', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 1 } } } });
    const { service } = limited;
    expect(await getStatus(chat(service))).toBe(200);
    expect(await getStatus(chat(service, 'm', 'same'))).toBe(429);
    expect(await getStatus(chat(service, 'm', 'another'))).toBe(200);
  });

  it('is separate for each deployment, also with the wildcard *', async () => {
    await using limited = await startLimited({ default: { limits: { '*': { requestMinute: 1 } } } });
    const { service } = limited;
    expect(await getStatus(chat(service, 'm'))).toBe(200);
    expect(await getStatus(chat(service, 'm'))).toBe(429);
    expect(await getStatus(chat(service, 'n'))).toBe(200);
  });

  it('applies a changed limit from the next call on, with the usage so far', async () => {
    const roles = (requestMinute: number) => ({ default: { limits: { m: { requestMinute } } } });
    await using limited = await startLimited(roles(2));
    const { service, upstream } = limited;
    await chat(service);
    await chat(service);
    expect(await getStatus(chat(service))).toBe(429);
    service.reload(createConfiguration(roles(3), upstream.endpoint));
    expect(await getStatus(chat(service))).toBe(200);
    expect(await getStatus(chat(service))).toBe(429);
    service.reload(createConfiguration(roles(1), upstream.endpoint));
    expect((await chat(service)).error.message).toContain('(3 of 1)');
    service.reload(createConfiguration({}, upstream.endpoint));
    expect(await getStatus(chat(service))).toBe(200);
  });
});
