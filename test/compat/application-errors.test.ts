import { describe, expect, it } from 'vitest';
import { delta, hello, plainCompletion } from '#test/chunks.ts';
import { errorReply, jsonReply, type Reply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { getChatPath, startService, type TestService } from '#test/start-service.ts';

function startWith(configuration: object): Promise<TestService> {
  const keys = { ada: { project: 'ada' }, bob: { project: 'bob', role: 'limited' }, eve: { project: 'eve' } };
  return startService({ keys, ...configuration });
}

const fine = jsonReply(plainCompletion('fine'));
const toKeyHeader = (key: string) => ({ 'api-key': key });
const body = { messages: hello };

/** Returns an application that calls a model and passes on its status, error, and Retry-After. */
function forwardInnerError(service: () => TestService, deployment: string): Reply {
  return async ({ received, response }) => {
    const headers = { 'api-key': String(received.headers['api-key']), 'content-type': 'application/json' };
    const inner = await sendRequest(service().url, { path: getChatPath(deployment), headers, body });
    const retryAfter = inner.headers['retry-after'];
    response.writeHead(inner.status, {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    });
    response.end(inner.text);
  };
}

describe('caller without remaining quota for an inner call', () => {
  it('receives 429, and the application is called for other callers and again for this caller', async () => {
    await using upstream = await startScriptedUpstream(fine);
    await using host = await startScriptedUpstream(forwardInnerError(() => service, 'm'));
    await using service = await startWith({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
      applications: { app: { endpoint: `${host.url}/app`, maxRetryAttempts: 3 } },
      roles: { limited: { limits: { m: { requestDay: 1 } } } },
    });
    expect((await service.chat('app', body, toKeyHeader('bob'))).status).toBe(200);
    for (let call = 0; call < 3; call += 1) {
      const rejection = await service.chat('app', body, toKeyHeader('bob'));
      expect([rejection.status, rejection.error.code, rejection.error.type]).toEqual([
        429,
        'request_limit_exceeded',
        'rate_limit_error',
      ]);
      expect(Number(rejection.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(host.requests).toHaveLength(4);
    expect((await service.chat('app', body, toKeyHeader('ada'))).status).toBe(200);
  });

  it('does not pause an application that turns the inner error into 500', async () => {
    await using upstream = await startScriptedUpstream(fine);
    await using host = await startScriptedUpstream(async (exchange) => {
      const headers = { 'api-key': String(exchange.received.headers['api-key']), 'content-type': 'application/json' };
      const inner = await sendRequest(service.url, { path: getChatPath('m'), headers, body });
      return inner.status === 200 ? fine(exchange) : errorReply(500)(exchange);
    });
    await using service = await startWith({
      keys: { ada: { project: 'ada' }, bob: { project: 'bob', role: 'closed' }, eve: { project: 'eve', role: 'closed' } },
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }], userRoles: ['default'] } },
      applications: { app: { endpoint: `${host.url}/app` } },
      roles: { closed: {} },
    });
    for (const caller of ['bob', 'eve', 'bob', 'eve'])
      expect((await service.chat('app', body, toKeyHeader(caller))).status).toBe(500);
    expect((await service.chat('app', body, toKeyHeader('ada'))).status).toBe(200);
    expect(host.requests).toHaveLength(5);
  });

  it('receives the Retry-After of the application unchanged', async () => {
    await using host = await startScriptedUpstream(errorReply(429, { 'retry-after': '43054' }), fine);
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const rejection = await service.chat('app', body, toKeyHeader('bob'));
    expect([rejection.status, rejection.headers['retry-after'], rejection.error.message]).toEqual([
      429,
      '43054',
      'upstream says 429',
    ]);
    expect((await service.chat('app', body, toKeyHeader('ada'))).status).toBe(200);
  });
});

describe('failure caused by one caller', () => {
  it('does not pause a single upstream of an application or a model', async () => {
    await using host = await startScriptedUpstream(errorReply(500), errorReply(503), errorReply(500), errorReply(500), fine);
    await using upstream = await startScriptedUpstream(errorReply(500), errorReply(500), errorReply(500), fine);
    await using service = await startWith({
      models: { m: { upstreams: [{ endpoint: upstream.endpoint }], maxRetryAttempts: 1 } },
      applications: { app: { endpoint: `${host.url}/app` } },
    });
    for (let call = 0; call < 4; call += 1) await service.chat('app', body, toKeyHeader('eve'));
    for (let call = 0; call < 3; call += 1) await service.chat('m', body, toKeyHeader('eve'));
    expect([host.requests.length, upstream.requests.length]).toEqual([4, 3]);
    expect((await service.chat('app', body, toKeyHeader('ada'))).status).toBe(200);
    expect((await service.chat('m', body, toKeyHeader('ada'))).status).toBe(200);
  });

  it.each(['access_denied', 'consent_required', 'made_up'])(
    'does not pause an application that returns 403 with the code %s',
    async (code) => {
      await using host = await startScriptedUpstream(
        errorReply(403, {}, { code }),
        errorReply(403, {}, { code }),
        errorReply(403, {}, { code }),
        fine,
      );
      await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
      for (const caller of ['ada', 'bob', 'eve']) expect((await service.chat('app', body, toKeyHeader(caller))).status).toBe(403);
      expect((await service.chat('app', body, toKeyHeader('ada'))).status).toBe(200);
    },
  );
});

describe('configuration change', () => {
  it('resumes only the changed upstreams', async () => {
    await using changed = await startScriptedUpstream(errorReply(429), fine);
    await using unchanged = await startScriptedUpstream(errorReply(429), fine);
    const configuration = (description: string) => ({
      keys: { ada: { project: 'ada' } },
      models: {
        changed: { description, upstreams: [{ endpoint: changed.endpoint }], maxRetryAttempts: 1 },
        same: { upstreams: [{ endpoint: unchanged.endpoint }], maxRetryAttempts: 1 },
      },
    });
    await using service = await startWith(configuration('before'));
    const statuses = async () => [
      (await service.chat('changed', body, toKeyHeader('ada'))).status,
      (await service.chat('same', body, toKeyHeader('ada'))).status,
    ];
    expect([await statuses(), await statuses()]).toEqual([
      [429, 429],
      [429, 429],
    ]);
    expect([changed.requests.length, unchanged.requests.length]).toEqual([1, 1]);
    service.reload(configuration('after'));
    expect(await statuses()).toEqual([200, 429]);
    expect(unchanged.requests).toHaveLength(1);
  });
});

const applicationError = {
  message: 'No such thing.',
  type: 'their_type',
  param: 'q',
  code: 'their_code',
  display_message: 'Try another.',
};

describe('error of an application', () => {
  it.each([400, 401, 402, 403, 404, 408, 409, 410, 413, 415, 418, 422, 424, 429, 451, 501])(
    'with %i is returned unchanged, streamed or not',
    async (status) => {
      await using host = await startScriptedUpstream(errorReply(status, {}, applicationError));
      await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
      for (const stream of [false, true]) {
        const answer = await service.chat('app', { ...body, stream }, toKeyHeader('ada'));
        expect([answer.status, answer.error]).toEqual([status, applicationError]);
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
  ])('with %i and without JSON gets a type and a code', async (status, type, code) => {
    await using host = await startScriptedUpstream(({ response }) => void response.writeHead(status).end('no JSON'));
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const answer = await service.chat('app', body, toKeyHeader('ada'));
    expect([answer.status, answer.error]).toEqual([status, { type, message: 'no JSON', param: null, code }]);
  });

  it.each([
    ['text/plain; charset=utf-8', 'Kein Tee: 🫖', 'Kein Tee: 🫖'],
    ['text/plain', 'x'.repeat(5000), `${'x'.repeat(2000)}…`],
    ['text/html', '<p>No tea</p>', 'The upstream answered 418.'],
    ['text/plain', ' ', 'The upstream answered 418.'],
  ])('with 418 and the media type %s has a suitable message', async (type, text, message) => {
    await using host = await startScriptedUpstream(
      ({ response }) => void response.writeHead(418, { 'content-type': type }).end(text),
    );
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const answer = await service.chat('app', body, toKeyHeader('ada'));
    expect([answer.status, answer.error]).toMatchObject([418, { message }]);
  });

  it.each([
    [500, 500, 'upstream_error'],
    [502, 503, 'server_overloaded'],
    [503, 503, 'server_overloaded'],
  ])('with %i becomes %i with its display_message', async (status, expectedStatus, type) => {
    await using host = await startScriptedUpstream(errorReply(status, {}, applicationError));
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const answer = await service.chat('app', body, toKeyHeader('ada'));
    expect([answer.status, answer.error]).toMatchObject([expectedStatus, { type, display_message: 'Try another.' }]);
  });

  async function streamError(error: object): Promise<unknown> {
    await using host = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'Half' }), { error });
      exchange.done();
    });
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const { content, error: answer } = await (await service.stream('app', body, toKeyHeader('ada'))).readRest();
    expect(content()).toBe('Half');
    return answer;
  }

  it.each([
    { ...applicationError, code: '402' },
    { ...applicationError, type: 'invalid_request_error' },
    applicationError,
    { ...applicationError, type: 'runtime_error' },
  ])('midway in a stream is returned unchanged: %j', async (error) => {
    expect(await streamError(error)).toEqual(error);
  });

  it('midway in a stream is upstream_failed if its code is 500', async () => {
    const answer = await streamError({ message: 'Error during processing the request', type: 'runtime_error', code: '500' });
    const message = 'The answer of app failed: Error during processing the request';
    expect(answer).toEqual({ type: 'upstream_error', message, param: null, code: 'upstream_failed' });
  });

  it('never contains the key that the application received', async () => {
    await using host = await startScriptedUpstream((exchange) => {
      const key = String(exchange.received.headers['api-key']);
      const fields = { message: `bad ${key}`, type: `t ${key}`, code: `c ${key}`, param: key, display_message: `d ${key}` };
      return errorReply(418, {}, fields)(exchange);
    });
    await using service = await startWith({ applications: { app: { endpoint: `${host.url}/app` } } });
    const { error } = await service.chat('app', body, toKeyHeader('ada'));
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
  ])('of an upstream with the protocol %s is returned with %i', async (protocol, status) => {
    await using upstream = await startScriptedUpstream(errorReply(status, {}, { display_message: 'Come again.' }));
    await using service = await startWith({
      models: { m: { upstreams: [{ protocol, endpoint: upstream.endpoint, key: 'secret-key' }], maxRetryAttempts: 1 } },
    });
    expect((await service.chat('m', body, toKeyHeader('ada'))).error).toHaveProperty('display_message', 'Come again.');
  });
});

it('a deployment whose upstreams all have the weight 0 returns 503 with the reason and Retry-After', async () => {
  await using service = await startWith({ models: { m: { upstreams: [{ endpoint: 'http://127.0.0.1:9/v1', weight: 0 }] } } });
  const { status, error, headers } = await service.chat('m', body, toKeyHeader('ada'));
  expect([status, error.code, error.message]).toEqual([503, 'upstream_unavailable', 'm has no upstream with a weight above 0.']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});
