import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '#test/api-description.ts';
import { hello } from '#test/chunks.ts';
import { readOperations } from '#test/documented.ts';
import { withKey } from '#test/start-service.ts';
import { type FullService, startFullService } from '../security/support.ts';

const operations = readOperations(describeApi({ compat: ['openai'], msgapi: ['anthropic'] }));
/** Without the list of applications in a bucket, because other methods treat its last segment as the path of an application. */
const paths = [...new Set(operations.map(({ path }) => path))].filter((path) => path !== '/v1/applications/{bucket}');

let fullService: FullService;

beforeAll(async () => {
  fullService = await startFullService(() => ({ models: { model: { upstreams: [{ protocol: 'demo' }] } } }));
});

afterAll(() => fullService[Symbol.asyncDispose]());

/** Returns a path for a pattern. */
function toPath(pattern: string): string {
  const named = pattern.replace('{api_version}', '2024-10-21').replace('{bucket}/{path}', 'bucket/a.txt');
  return named.replaceAll(/\{\w+\}/g, 'model');
}

function listMethods(pattern: string): string[] {
  const path = toPath(pattern);
  const described = operations.filter((each) => toPath(each.path) === path).map(({ method }) => method.toUpperCase());
  return [...new Set([...described, ...(described.includes('GET') ? ['HEAD'] : [])])].sort();
}

function send(method: string, path: string) {
  const body = method === 'GET' || method === 'HEAD' ? undefined : { messages: hello };
  return fullService.service.sendRequest({ method, path, headers: withKey(), body });
}

describe('supported path', () => {
  it.each(paths)('%s lists its methods, and rejects other methods', async (pattern) => {
    const allowedMethods = listMethods(pattern);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((each) => !allowedMethods.includes(each))) {
      const { status, headers } = await send(method, toPath(pattern));
      expect([method, status]).toEqual([method, 405]);
      expect(String(headers.allow).split(', ')).toEqual(allowedMethods);
    }
    const { status, headers } = await send('OPTIONS', toPath(pattern));
    expect([status, String(headers.allow).split(', ')]).toEqual([204, allowedMethods]);
  });
});

describe('unknown path', () => {
  it.each([
    ['POST', '/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
    ['POST', '/openai/chat/completions', '/openai/v1/chat/completions'],
    ['POST', '/embeddings', '/v1/embeddings'],
    ['GET', '/models', '/v1/models'],
    ['GET', '/deployments', '/openai/deployments'],
    ['POST', '/messages', '/anthropic/v1/messages'],
    ['POST', '/v1/messages', '/anthropic/v1/messages'],
    ['POST', '/v1/chat/completions/', '/v1/chat/completions'],
    ['POST', '//v1/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1//chat/completions', '/v1/chat/completions'],
    ['POST', '/chat/completions//', '/v1/chat/completions'],
    ['POST', '/openai/deployments/m/chat/completions/', '/openai/deployments/m/chat/completions'],
    ['GET', '/v1/models/', '/v1/models'],
    ['GET', '/v1/models//m/', '/v1/models/m'],
  ])('is answered with a suggestion: %s %s', async (method, path, suggestion) => {
    const { status, error } = await send(method, path);
    expect([status, error]).toMatchObject([
      404,
      { code: 'route_not_found', message: expect.stringContaining(`(did you mean ${suggestion}?)`) },
    ]);
  });

  it('is answered without a suggestion if the similar path does not support the method', async () => {
    expect((await send('PATCH', '/models')).error).toMatchObject({ message: expect.not.stringContaining('did you mean') });
  });

  it('* is rejected for methods other than OPTIONS', async () => {
    for (const method of ['GET', 'POST']) expect((await send(method, '*')).status).toBe(400);
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('is answered with 404 for %s', async (method) => {
    for (const path of ['/nowhere', '/v1', '/v1/nowhere', '/openai/nowhere', '/compat'])
      expect((await send(method, path)).status).toBe(404);
  });
});
