import { describe, expect, it } from 'vitest';
import { chat, getStatus, startLimited } from './support.ts';

async function countAdmitted(roles: object, key: string): Promise<number> {
  await using limited = await startLimited(roles);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => getStatus(chat(limited.service, 'm', key))));
  return statuses.filter((status) => status === 200).length;
}

const requests = (requestMinute: number) => ({ limits: { m: { requestMinute } } });

describe('the roles of a caller', () => {
  it('give the most generous limit of all roles', async () => {
    expect(await countAdmitted({ default: requests(2), staff: requests(5) }, 'both')).toBe(5);
    expect(await countAdmitted({ default: requests(5), staff: requests(2) }, 'both')).toBe(5);
    expect(await countAdmitted({ default: requests(5), staff: requests(2) }, 'staff')).toBe(2);
    expect(await countAdmitted({ default: requests(2), staff: { limits: { '*': {} } } }, 'both')).toBe(8);
  });

  it('have the limits of the default role if they have no entry for the deployment', async () => {
    expect(await countAdmitted({ default: requests(2), staff: { limits: {} } }, 'both')).toBe(2);
    expect(await countAdmitted({ default: requests(2), staff: { limits: { other: { requestMinute: 5 } } } }, 'staff')).toBe(2);
  });

  it('count as the default role if they are not configured', async () => {
    expect(await countAdmitted({ default: requests(3) }, 'stranger')).toBe(3);
    expect(await countAdmitted({ default: requests(3) }, 'staff')).toBe(3);
    expect(await countAdmitted({ staff: requests(3) }, 'stranger')).toBe(8);
    expect(await countAdmitted({ staff: requests(3) }, 'both')).toBe(3);
  });
});

describe('a limit of 0 or less', () => {
  it.each([
    [
      'tokens',
      { limits: { m: { day: 0 } } },
      'Your roles do not allow any use of "m": their limit of tokens per day is 0 or less.',
    ],
    [
      'requests',
      { limits: { '*': { requestHour: -1 } } },
      'Your roles do not allow any use of "m": their limit of requests per hour is 0 or less.',
    ],
    [
      'parallel calls',
      { limits: { m: { maxParallel: 0 } } },
      'Your roles do not allow any use of "m": their limit of parallel calls is 0 or less.',
    ],
    [
      'money',
      { limits: {}, costLimit: { month: 0 } },
      'Your roles do not allow any use of "m": their limit of cost per month is 0 or less.',
    ],
  ])('of %s rejects the call before body validation', async (_kind, entry, message) => {
    await using limited = await startLimited({ default: entry });
    const { service, upstream } = limited;
    for (const body of [{ messages: [] }, { messages: [{ role: 'user', content: 'x' }] }]) {
      const { status, error } = await service.chat('m', body);
      expect([status, error]).toEqual([403, { type: 'permission_error', code: 'access_denied', param: null, message }]);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('hides the deployment from listings', async () => {
    await using limited = await startLimited({ default: { limits: { m: { day: 0 } } } });
    const get = (path: string, key: string) => limited.service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } });
    const listIds = async (key: string) =>
      ((await get('/openai/models', key)).json as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(await listIds('caller-key')).toEqual(['n', 'team/m 1', 'vectors']);
    expect((await get('/openai/models/m', 'caller-key')).status).toBe(403);
    expect((await get('/v1/deployments/m/limits', 'caller-key')).status).toBe(403);
  });
});
