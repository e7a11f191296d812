import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let service: TestService;

beforeAll(async () => {
  const url = 'https://tools.example/secret-path/openapi.json';
  service = await startService({
    addons: { weather: { url, displayName: 'Weather', description: 'Forecasts' }, plain: { url } },
  });
});

afterAll(() => service[Symbol.asyncDispose]());

describe.each(['openai', 'compat'])('listings below /%s', (prefix) => {
  it('contain the configured addons without their URLs', async () => {
    const { json, text } = await service.sendRequest({ method: 'GET', path: `/${prefix}/addons`, headers: withKey() });
    expect(json).toMatchObject({
      object: 'list',
      data: [
        {
          id: 'weather',
          object: 'addon',
          addon: 'weather',
          display_name: 'Weather',
          description: 'Forecasts',
          created_at: expect.any(Number),
        },
        { id: 'plain', object: 'addon', addon: 'plain', display_name: 'plain' },
      ],
    });
    expect(text).not.toContain('secret-path');
  });

  it('contain no assistants', async () => {
    const { json } = await service.sendRequest({ method: 'GET', path: `/${prefix}/assistants`, headers: withKey() });
    expect(json).toEqual({ object: 'list', data: [] });
  });

  it.each(['addons', 'assistants'])('reject requests for %s without a key', async (kind) => {
    expect((await service.sendRequest({ method: 'GET', path: `/${prefix}/${kind}` })).status).toBe(401);
  });
});
