import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '#test/api-description.ts';
import { hello } from '#test/chunks.ts';
import { readOperations } from '#test/documented.ts';
import { withKey } from '#test/start-service.ts';
import { type FullService, startFullService } from '../security/support.ts';

const operations = readOperations(describeApi({ compat: ['openai'], msgapi: ['anthropic'] }));
/** Without the list of a bucket's applications: to other methods its last segment is the path of one. */
const paths = [...new Set(operations.map(({ path }) => path))].filter((path) => path !== '/v1/applications/{bucket}');

let whole: FullService;

beforeAll(async () => {
  whole = await startFullService(() => ({ models: { model: { upstreams: [{ protocol: 'demo' }] } } }));
});

afterAll(() => whole[Symbol.asyncDispose]());

/** A path of a pattern. */
function toPath(pattern: string): string {
  const named = pattern.replace('{api_version}', '2024-10-21').replace('{bucket}/{path}', 'bucket/a.txt');
  return named.replaceAll(/\{\w+\}/g, 'model');
}

function methodsOf(pattern: string): string[] {
  const path = toPath(pattern);
  const described = operations.filter((each) => toPath(each.path) === path).map(({ method }) => method.toUpperCase());
  return [...new Set([...described, ...(described.includes('GET') ? ['HEAD'] : [])])].sort();
}

function ask(method: string, path: string) {
  const body = method === 'GET' || method === 'HEAD' ? undefined : { messages: hello };
  return whole.service.sendRequest({ method, path, headers: withKey(), body });
}

describe('a path that is served', () => {
  it.each(paths)('%s lists the methods that it takes, and no other', async (pattern) => {
    const taken = methodsOf(pattern);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((each) => !taken.includes(each))) {
      const { status, headers } = await ask(method, toPath(pattern));
      expect([method, status]).toEqual([method, 405]);
      expect(String(headers.allow).split(', ')).toEqual(taken);
    }
    const { status, headers } = await ask('OPTIONS', toPath(pattern));
    expect([status, String(headers.allow).split(', ')]).toEqual([204, taken]);
  });
});

describe('a path that is not', () => {
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
  ])('gets a suggestion: %s %s', async (method, path, meant) => {
    const { status, error } = await ask(method, path);
    expect([status, error]).toMatchObject([404, { code: 'route_not_found', message: expect.stringContaining(` ${meant} may`) }]);
  });

  it('is guessed at only if the other takes the method', async () => {
    expect((await ask('PATCH', '/models')).error).toMatchObject({ message: expect.not.stringContaining('may be meant') });
  });

  it('is * to all methods but OPTIONS', async () => {
    for (const method of ['GET', 'POST']) expect((await ask(method, '*')).status).toBe(400);
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('is 404 to %s', async (method) => {
    for (const path of ['/nowhere', '/v1', '/v1/nowhere', '/openai/nowhere', '/compat'])
      expect((await ask(method, path)).status).toBe(404);
  });
});
