import { describe, expect, it } from 'vitest';
import { chat, readStats, startLimited } from './support.ts';

const toMs = (time: string): number => Date.parse(time);

describe('GET /v1/deployments/{id}/limits', () => {
  it('returns the limit, the usage, and the reset of every window', async () => {
    await using limited = await startLimited({
      default: { limits: { m: { minute: 100, month: 5000, requestHour: 9 } }, costLimit: { week: 2.5 } },
    });
    const { service } = limited;
    await chat(service);
    const nextDay = toMs('2026-07-16T00:00:00Z');
    expect(await readStats(service)).toEqual({
      minuteTokenStats: { total: 100, used: 12, resetsAt: toMs('2026-07-15T10:21:00Z') },
      dayTokenStats: { total: null, used: 0, resetsAt: nextDay },
      weekTokenStats: { total: null, used: 0, resetsAt: toMs('2026-07-20T00:00:00Z') },
      monthTokenStats: { total: 5000, used: 12, resetsAt: toMs('2026-08-01T00:00:00Z') },
      minuteRequestStats: { total: null, used: 0, resetsAt: toMs('2026-07-15T10:21:00Z') },
      hourRequestStats: { total: 9, used: 1, resetsAt: toMs('2026-07-15T11:00:00Z') },
      dayRequestStats: { total: null, used: 0, resetsAt: nextDay },
      parallelCallStats: { total: null, used: 0 },
      dayCostStats: { total: null, used: 0, resetsAt: nextDay },
      weekCostStats: { total: 2.5, used: 0.017, resetsAt: toMs('2026-07-20T00:00:00Z') },
      monthCostStats: { total: null, used: 0, resetsAt: toMs('2026-08-01T00:00:00Z') },
      yearCostStats: { total: null, used: 0, resetsAt: toMs('2027-01-01T00:00:00Z') },
    });
  });

  it('does not count as a request, and works if a limit is used up', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 1 } } } });
    const { service } = limited;
    await chat(service);
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await readStats(service)).toMatchObject({ minuteRequestStats: { total: 1, used: 1 } });
  });

  it('returns only the usage of the caller', async () => {
    await using limited = await startLimited({ default: { limits: { m: { requestMinute: 5 } } } });
    const { service } = limited;
    await chat(service);
    expect(await readStats(service, 'm', 'same')).toMatchObject({ minuteRequestStats: { used: 1 } });
    expect(await readStats(service, 'm', 'another')).toMatchObject({ minuteRequestStats: { used: 0 } });
  });

  it.each(['team/m%201', 'team%2Fm%201'])('accepts the ID %s, which has two path segments', async (id) => {
    await using limited = await startLimited({ default: { limits: { 'team/m 1': { requestMinute: 5 } } } });
    const { service } = limited;
    await chat(service, 'team%2Fm%201');
    expect(await readStats(service, id)).toMatchObject({ minuteRequestStats: { total: 5, used: 1 } });
  });

  it.each([
    ['GET', '/v1/deployments/missing/limits', 404, 'deployment_not_found'],
    ['GET', '/v1/deployments/a/../m/limits', 404, 'deployment_not_found'],
    ['GET', '/v1/deployments//limits', 404, 'deployment_not_found'],
    ['GET', '/v1/deployments/limits', 404, 'deployment_not_found'],
    ['GET', '/v1/deployments/m', 404, 'route_not_found'],
    ['DELETE', '/v1/deployments/m/limits', 405, 'method_not_allowed'],
  ])('answers %s %s with status %i', async (method, path, status, code) => {
    await using limited = await startLimited({});
    const answer = await limited.service.sendRequest({ method, path, headers: { 'api-key': 'caller-key' } });
    expect([answer.status, answer.error.code]).toEqual([status, code]);
  });

  it('requires a key', async () => {
    await using limited = await startLimited({});
    for (const path of ['/v1/deployments/m/limits', '/v1/user/info']) {
      const { status, error } = await limited.service.sendRequest({ method: 'GET', path });
      expect([status, error.code]).toEqual([401, 'missing_credentials']);
    }
  });
});

describe('GET /v1/user/info', () => {
  it('returns the user, the project, and the roles of a key', async () => {
    await using limited = await startLimited({});
    const { json } = await limited.service.sendRequest({ method: 'GET', path: '/v1/user/info', headers: { 'api-key': 'both' } });
    expect(json).toEqual({ user: 'key:both', project: 'both', roles: ['default', 'staff'] });
  });
});
