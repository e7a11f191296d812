import { describe, expect, it } from 'vitest';
import { delta, hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, refusal, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { chatPath, startService, type TestService } from '#test/start-service.ts';

function serviceOf(configuration: object): Promise<TestService> {
  const keys = { ada: { project: 'ada' }, bob: { project: 'bob', role: 'limited' }, eve: { project: 'eve' } };
  return startService({ keys, ...configuration });
}

const fine = jsonReply(plainCompletion('fine'));
const as = (key: string) => ({ 'api-key': key });
const body = { messages: hello };

/** An application that asks a model and hands on whatever comes, status, error and Retry-After included. */
function handingOn(service: () => TestService, deployment: string): Reply {
  return async ({ received, response }) => {
    const headers = { 'api-key': String(received.headers['api-key']), 'content-type': 'application/json' };
    const inner = await sendRequest(service().url, { path: chatPath(deployment), headers, body });
    const again = inner.headers['retry-after'];
    response.writeHead(inner.status, {
      'content-type': 'application/json',
      ...(again !== undefined && { 'retry-after': again }),
    });
    response.end(inner.text);
  };
}

describe('a caller whose limit is used up for an inner call', () => {
  it('gets a 429, and the application is called for other callers and again for this one', async () => {
    await using upstream = await startScriptedUpstream(fine);
    await using host = await startScriptedUpstream(handingOn(() => service, 'm'));
    await using service = await serviceOf({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
      applications: { app: { endpoint: `${host.url}/app`, maxRetryAttempts: 3 } },
      roles: { limited: { limits: { m: { requestDay: 1 } } } },
    });
    expect((await service.chat('app', body, as('bob'))).status).toBe(200);
    for (let call = 0; call < 3; call += 1) {
      const refused = await service.chat('app', body, as('bob'));
      expect([refused.status, refused.error.code, refused.error.type]).toEqual([
        429,
        'request_limit_exceeded',
        'rate_limit_error',
      ]);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(host.requests).toHaveLength(4);
    expect((await service.chat('app', body, as('ada'))).status).toBe(200);
  });

  it('does not pause an application that turns the error into a 500', async () => {
    await using upstream = await startScriptedUpstream(fine);
    await using host = await startScriptedUpstream(async (answering) => {
      const headers = { 'api-key': String(answering.received.headers['api-key']), 'content-type': 'application/json' };
      const inner = await sendRequest(service.url, { path: chatPath('m'), headers, body });
      return inner.status === 200 ? fine(answering) : refusal(500)(answering);
    });
    await using service = await serviceOf({
      keys: { ada: { project: 'ada' }, bob: { project: 'bob', role: 'closed' }, eve: { project: 'eve', role: 'closed' } },
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }], userRoles: ['default'] } },
      applications: { app: { endpoint: `${host.url}/app` } },
      roles: { closed: {} },
    });
    for (const caller of ['bob', 'eve', 'bob', 'eve']) expect((await service.chat('app', body, as(caller))).status).toBe(500);
    expect((await service.chat('app', body, as('ada'))).status).toBe(200);
    expect(host.requests).toHaveLength(5);
  });

  it('gets the Retry-After of the application unchanged', async () => {
    await using host = await startScriptedUpstream(refusal(429, { 'retry-after': '43054' }), fine);
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const refused = await service.chat('app', body, as('bob'));
    expect([refused.status, refused.headers['retry-after'], refused.error.message]).toEqual([429, '43054', 'upstream says 429']);
    expect((await service.chat('app', body, as('ada'))).status).toBe(200);
  });
});

describe('a failure that one caller causes', () => {
  it('does not pause a single upstream of an application or a model', async () => {
    await using host = await startScriptedUpstream(refusal(500), refusal(503), refusal(500), refusal(500), fine);
    await using upstream = await startScriptedUpstream(refusal(500), refusal(500), refusal(500), fine);
    await using service = await serviceOf({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }], maxRetryAttempts: 1 } },
      applications: { app: { endpoint: `${host.url}/app` } },
    });
    for (let call = 0; call < 4; call += 1) await service.chat('app', body, as('eve'));
    for (let call = 0; call < 3; call += 1) await service.chat('m', body, as('eve'));
    expect([host.requests.length, upstream.requests.length]).toEqual([4, 3]);
    expect((await service.chat('app', body, as('ada'))).status).toBe(200);
    expect((await service.chat('m', body, as('ada'))).status).toBe(200);
  });

  it.each(['access_denied', 'consent_required', 'made_up'])('as a 403 %s counts no failure of the application', async (code) => {
    await using host = await startScriptedUpstream(
      refusal(403, {}, { code }),
      refusal(403, {}, { code }),
      refusal(403, {}, { code }),
      fine,
    );
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    for (const caller of ['ada', 'bob', 'eve']) expect((await service.chat('app', body, as(caller))).status).toBe(403);
    expect((await service.chat('app', body, as('ada'))).status).toBe(200);
  });
});

describe('a changed configuration', () => {
  it('resumes only the changed upstreams', async () => {
    await using changed = await startScriptedUpstream(refusal(429), fine);
    await using same = await startScriptedUpstream(refusal(429), fine);
    const configuration = (description: string) => ({
      keys: { ada: { project: 'ada' } },
      models: {
        changed: { description, upstreams: [{ endpoint: changed.endpoint }], maxRetryAttempts: 1 },
        same: { upstreams: [{ endpoint: same.endpoint }], maxRetryAttempts: 1 },
      },
    });
    await using service = await serviceOf(configuration('before'));
    const statuses = async () => [
      (await service.chat('changed', body, as('ada'))).status,
      (await service.chat('same', body, as('ada'))).status,
    ];
    expect([await statuses(), await statuses()]).toEqual([
      [429, 429],
      [429, 429],
    ]);
    expect([changed.requests.length, same.requests.length]).toEqual([1, 1]);
    service.reload(configuration('after'));
    expect(await statuses()).toEqual([200, 429]);
    expect(same.requests).toHaveLength(1);
  });
});

const own = { message: 'No such thing.', type: 'their_type', param: 'q', code: 'their_code', display_message: 'Try another.' };

describe('an error of an application', () => {
  it.each([400, 401, 402, 403, 404, 408, 409, 410, 413, 415, 418, 422, 424, 429, 451, 501])(
    'of %i is returned unchanged, streamed or not',
    async (status) => {
      await using host = await startScriptedUpstream(refusal(status, {}, own));
      await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
      for (const stream of [false, true]) {
        const told = await service.chat('app', { ...body, stream }, as('ada'));
        expect([told.status, told.error]).toEqual([status, own]);
      }
    },
  );

  it.each([
    [401, 'authentication_error', 'invalid_request'],
    [402, 'invalid_request_error', 'invalid_request'],
    [403, 'permission_error', 'access_denied'],
    [404, 'not_found_error', 'DeploymentNotFound'],
    [429, 'rate_limit_error', 'upstream_rate_limited'],
    [501, 'upstream_error', 'upstream_failed'],
  ])('of %i is completed', async (status, type, code) => {
    await using host = await startScriptedUpstream(({ response }) => void response.writeHead(status).end('no JSON'));
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const told = await service.chat('app', body, as('ada'));
    expect([told.status, told.error]).toEqual([status, { type, message: 'no JSON', param: null, code }]);
  });

  it.each([
    ['text/plain; charset=utf-8', 'Kein Tee: 🫖', 'Kein Tee: 🫖'],
    ['text/plain', 'x'.repeat(5000), `${'x'.repeat(2000)}…`],
    ['text/html', '<p>No tea</p>', 'The upstream answered 418.'],
    ['text/plain', ' ', 'The upstream answered 418.'],
  ])('of 418 in %s has its own message', async (type, text, message) => {
    await using host = await startScriptedUpstream(
      ({ response }) => void response.writeHead(418, { 'content-type': type }).end(text),
    );
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const told = await service.chat('app', body, as('ada'));
    expect([told.status, told.error]).toMatchObject([418, { message }]);
  });

  it.each([
    [500, 500, 'upstream_error'],
    [502, 503, 'server_overloaded'],
    [503, 503, 'server_overloaded'],
  ])('of %i is ours as %i, with its display_message', async (status, told, type) => {
    await using host = await startScriptedUpstream(refusal(status, {}, own));
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const answer = await service.chat('app', body, as('ada'));
    expect([answer.status, answer.error]).toMatchObject([told, { type, display_message: 'Try another.' }]);
  });

  async function toldLate(error: object): Promise<unknown> {
    await using host = await startScriptedUpstream(async (answering) => {
      answering.head();
      await answering.events(delta({ role: 'assistant', content: 'Half' }), { error });
      answering.done();
    });
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const { content, error: told } = await (await service.stream('app', body, as('ada'))).readRest();
    expect(content()).toBe('Half');
    return told;
  }

  it.each([{ ...own, code: '402' }, { ...own, type: 'invalid_request_error' }, own, { ...own, type: 'runtime_error' }])(
    'late in a stream is returned unchanged: %j',
    async (error) => {
      expect(await toldLate(error)).toEqual(error);
    },
  );

  it('late in a stream is upstream_failed if its code is 500', async () => {
    const told = await toldLate({ message: 'Error during processing the request', type: 'runtime_error', code: '500' });
    const message = 'The answer of app failed: Error during processing the request';
    expect(told).toEqual({ type: 'upstream_error', message, param: null, code: 'upstream_failed' });
  });

  it('never says a key that the application was sent', async () => {
    await using host = await startScriptedUpstream((answering) => {
      const key = String(answering.received.headers['api-key']);
      const fields = { message: `bad ${key}`, type: `t ${key}`, code: `c ${key}`, param: key, display_message: `d ${key}` };
      return refusal(418, {}, fields)(answering);
    });
    await using service = await serviceOf({ applications: { app: { endpoint: `${host.url}/app` } } });
    const { error } = await service.chat('app', body, as('ada'));
    expect(error).toEqual({ message: 'bad ***', type: 't ***', code: 'c ***', param: '***', display_message: 'd ***' });
  });
});

describe('display_message', () => {
  it.each([
    ['openai', 400],
    ['openai', 429],
    ['openai', 500],
    ['anthropic', 400],
    ['anthropic', 503],
  ])('of an upstream of the protocol %s is kept on %i', async (protocol, status) => {
    await using upstream = await startScriptedUpstream(refusal(status, {}, { display_message: 'Come again.' }));
    await using service = await serviceOf({
      models: { m: { upstreams: [{ protocol, endpoint: upstream.endpoint, key: 'secret-key' }], maxRetryAttempts: 1 } },
    });
    expect((await service.chat('m', body, as('ada'))).error).toHaveProperty('display_message', 'Come again.');
  });
});

it('A deployment whose upstreams all have the weight 0 is 503 with the reason and a time', async () => {
  await using service = await serviceOf({ models: { m: { upstreams: [{ endpoint: 'http://127.0.0.1:9/v1', weight: 0 }] } } });
  const { status, error, headers } = await service.chat('m', body, as('ada'));
  expect([status, error.code, error.message]).toEqual([503, 'upstream_unavailable', 'm has no upstream with a weight above 0.']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});
