import { describe, expect, it } from 'vitest';
import { getToolMessages } from './support.ts';
import { createParameter, startApi, toolset } from './web-support.ts';

const { api, operation, call } = await startApi();

describe('arguments from a malicious model', () => {
  const createPathTool = () => operation({ path: '/shops/{a}/find', properties: { a: {} } });
  const getRequestPath = async (tool: object, a: unknown): Promise<string | undefined> =>
    (await call(toolset(tool), { a })).request?.path;

  it.each(['..', '.', '%2e%2e', '', null])('cannot leave the path with the value %j', async (a) => {
    const path = await getRequestPath(createPathTool(), a);
    expect(path === undefined || path === '/shops/%252e%252e/find').toBe(true);
  });

  it.each([
    ['../../admin', '/shops/..%2F..%2Fadmin/find'],
    ['a?b=c#d', '/shops/a%3Fb%3Dc%23d/find'],
    ['\\..\\admin', '/shops/%5C..%5Cadmin/find'],
    ['@evil.example', '/shops/%40evil.example/find'],
    ['a\r\nHost: evil.example', '/shops/a%0D%0AHost%3A%20evil.example/find'],
    ['\u0000', '/shops/%00/find'],
    ['\ud800', '/shops/%EF%BF%BD/find'],
  ])('are encoded in the path: %j', async (a, expected) => {
    expect(await getRequestPath(createPathTool(), a)).toBe(expected);
  });

  it('add no parameter to the query', async () => {
    const tool = operation({ path: '/find?key=1', properties: { a: {} } });
    expect(await getRequestPath(tool, 'x&key=2#y')).toBe('/find?key=1&a=x%26key%3D2%23y');
    expect(await getRequestPath(operation({ path: '/find?key=1', properties: { key: {} } }), 'x')).toBe('/find?key=1');
  });

  it('add no headers', async () => {
    const tool = operation({ properties: { a: createParameter('header', 'X-Trace') } });
    const { rig, request } = await call(toolset(tool), { a: 'x\r\nX-Admin: 1' });
    expect(request).toBeUndefined();
    expect(getToolMessages(rig)).toEqual([expect.stringContaining('line breaks')]);
  });

  it('do not reach private addresses, also through a redirect', async () => {
    const tool = operation();
    const { rig } = await call(toolset(tool), {}, { security: { allowPrivateNetworks: [] } });
    expect(getToolMessages(rig)).toEqual([expect.stringContaining('is or resolves to a blocked address')]);
    api.script(({ response }) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end());
    const redirected = await call(toolset(tool, { type: 'bearer', token: 'sesame' }), {});
    expect(getToolMessages(redirected.rig)).toEqual([
      expect.stringContaining('169.254.169.254 is or resolves to a blocked address'),
    ]);
  });
});
