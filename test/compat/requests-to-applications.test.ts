import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  type ReceivedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';

let host: ScriptedUpstream;
let model: ScriptedUpstream;
let service: TestService;

const typed = { applicationTypeSchemaId: 'https://parley.example/types/reports', applicationProperties: { table: 'sales' } };

beforeAll(async () => {
  host = await startScriptedUpstream();
  model = await startScriptedUpstream(jsonReply(plainCompletion('plain')));
  service = await startService({
    models: {
      m: { upstreams: [{ endpoint: model.endpoint }] },
      adapted: {
        endpoint: `${host.url}/openai/deployments/adapted/chat/completions`,
        upstreams: [
          { protocol: 'dial', endpoint: 'http://one.internal/v1', key: 'first-key', extraData: { zone: 'é', deep: [1] } },
          { protocol: 'dial', endpoint: 'http://two.internal/v1', key: 'second-key', extraData: 'as it is', tier: 1 },
          { endpoint: model.endpoint, tier: 2 },
        ],
        maxRetryAttempts: 3,
      },
      vectors: { type: 'embedding', protocol: 'dial', endpoint: `${host.url}/embed?v=1`, upstreams: [{ key: 'first-key' }] },
    },
    applications: {
      app: { endpoint: `${host.url}/app?api-version=own&tenant=1`, maxRetryAttempts: 2 },
      'team/reports': { endpoint: `${host.url}/reports`, ...typed },
    },
  });
});

beforeEach(() => host.script(jsonReply(plainCompletion('hi'))));

afterAll(async () => {
  await service.close();
  await model.close();
  await host.close();
});

function getLastRequest(): ReceivedRequest {
  return host.requests.at(-1) ?? expect.unreachable();
}

async function chat(deployment: string, headers: Record<string, string> = {}, query = '') {
  const path = `/openai/deployments/${deployment}/chat/completions${query}`;
  return service.sendRequest({ path, headers: { ...withKey(), ...headers }, body: { messages: hello } });
}

describe('application', () => {
  it('receives the query of the client after its own', async () => {
    await chat('app', {}, '?api-version=2024-10-21&x=a%20b&x=2&&tenant=9');
    expect(getLastRequest().path).toBe('/app?api-version=own&tenant=1&x=a%20b&x=2');
  });

  it('receives the headers of the client, such as a conversation ID', async () => {
    await chat('app', { 'x-conversation-id': 'c 1', 'X-Team': 'caf\u00e9', 'accept-language': 'de', __proto__x: '1' });
    expect(getLastRequest().headers).toMatchObject({
      'x-conversation-id': 'c 1',
      'x-team': 'caf\u00e9',
      'accept-language': 'de',
      __proto__x: '1',
      'content-type': 'application/json',
      accept: 'application/json',
    });
  });

  it('receives no credentials, connection fields, or proxy fields of the client', async () => {
    const secrets = {
      cookie: 'a=secret-1',
      'proxy-authorization': 'Basic secret-2',
      'x-forwarded-for': 'secret-3',
      forwarded: 'for=secret-4',
      'x-upstream-endpoint': 'http://secret-5',
      'x-upstream-key': 'secret-6',
      'x-dial-application-id': 'secret-7',
      'x-dial-application-properties': 'secret-8',
      'x-dial-override-name': 'secret-11',
      'x-dial-deployment-id': 'secret-12',
      'x-parley-anything': 'secret-9',
      traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00',
      connection: 'close, x-hop',
      'x-hop': 'secret-10',
      'accept-encoding': 'br',
      te: 'trailers',
    };
    const { status, headers } = await chat('app', { ...secrets, authorization: `Bearer ${callerKey}`, 'api-key': callerKey });
    expect(status).toBe(200);
    const sent = getLastRequest();
    expect(JSON.stringify(sent.headers)).not.toMatch(new RegExp(`secret|${callerKey}|x-hop|"te"|:"br"`));
    expect(sent.headers.traceparent).not.toBe(secrets.traceparent);
    expect(sent.headers['x-request-id']).toBe(headers['x-request-id']);
    expect(Object.keys(sent.headers).filter((name) => /forward|upstream|dial|cookie|authorization/.test(name))).toEqual([
      'x-dial-deployment-id',
    ]);
  });

  it.each([
    ...['x-amzn-oidc-accesstoken', 'x-amzn-oidc-data', 'x-amzn-mtls-clientcert', 'cf-access-jwt-assertion', 'cf-connecting-ip'],
    ...['x-goog-iap-jwt-assertion', 'x-goog-authenticated-user-email', 'x-serverless-authorization', 'x-ms-client-principal'],
    ...['x-ms-client-principal-name', 'x-ms-token-aad-access-token', 'x-arr-clientcert', 'x-azure-clientip', 'true-client-ip'],
    ...[
      'x-auth-request-access-token',
      'x-auth-request-email',
      'remote-user',
      'remote-groups',
      'x-remote-user',
      'x-authentik-jwt',
    ],
    ...[
      'x-pomerium-jwt-assertion',
      'tailscale-user-login',
      'teleport-jwt-assertion',
      'x-consumer-username',
      'x-vouch-idp-idtoken',
    ],
    ...['x-client-cert', 'x-ssl-client-cert', 'ssl-client-verify', 'client-cert', 'x-envoy-external-address', 'x-real-ip'],
    ...['x-forwarded-client-cert', 'x-forwarded-access-token', 'x-original-forwarded-for', 'fly-client-ip', 'via'],
    ...['referer', 'origin', 'sec-fetch-site', 'x-csrf-token', 'oidc_claim_email', 'X_Real_IP', 'apikey', 'x-user', 'x-id-token'],
  ])('does not receive the header %s, because proxies and browsers identify the user with it', async (name) => {
    await chat('app', { [name]: 'secret', 'x-conversation-id': 'c1' });
    expect(getLastRequest().headers['x-conversation-id']).toBe('c1');
    expect(Object.keys(getLastRequest().headers)).not.toContain(name.toLowerCase());
  });

  it('receives the ID of the called deployment', async () => {
    await chat('app');
    expect(getLastRequest().headers['x-dial-deployment-id']).toBe('app');
    await chat('team/reports');
    expect(getLastRequest().headers['x-dial-deployment-id']).toBe('team/reports');
  });

  it('receives its own ID only if it has a type', async () => {
    await chat('team/reports');
    expect([getLastRequest().path, getLastRequest().headers['x-dial-application-id']]).toEqual(['/reports', 'team/reports']);
    await chat('app');
    expect(getLastRequest().headers).not.toHaveProperty('x-dial-application-id');
  });

  it('receives the same request from chat completions and the Messages API', async () => {
    const headers = { ...withKey(), 'x-conversation-id': 'c1' };
    const body = { model: 'app', messages: hello, max_tokens: 5 };
    for (const path of ['/v1/chat/completions?q=1', '/anthropic/v1/messages?q=1']) {
      expect((await service.sendRequest({ path, headers, body })).status).toBe(200);
      expect([getLastRequest().path, getLastRequest().headers['x-conversation-id']]).toEqual([
        '/app?api-version=own&tenant=1&q=1',
        'c1',
      ]);
    }
  });

  it('returns its X- headers, without cookies and headers of Parley', async () => {
    const declared = {
      'X-Report-Id': '7',
      'x-request-id': 'theirs',
      'X-Parley-Fake': '1',
      'X-RateLimit-Limit-Tokens': '1',
      'X-Upstream-Attempts': '99',
      'X-Accel-Redirect': '/secret',
      'Set-Cookie': 'a=b',
      Server: 'theirs',
    };
    const replies = [
      jsonReply(plainCompletion('hi'), 200, declared),
      errorReply(409, declared),
      eventsReply(...plainReply('hi')),
    ];
    host.script(...replies);
    for (const status of [200, 409]) {
      const answer = await chat('app');
      expect([answer.status, answer.headers['x-report-id'], answer.headers['x-upstream-attempts']]).toEqual([status, '7', '1']);
      expect(answer.headers['x-request-id']).not.toBe('theirs');
      for (const name of ['set-cookie', 'server', 'x-parley-fake', 'x-ratelimit-limit-tokens', 'x-accel-redirect'])
        expect(answer.headers).not.toHaveProperty(name);
    }
  });

  it.each([
    ...['X-Frame-Options', 'X-Content-Type-Options', 'X-XSS-Protection', 'X-UA-Compatible', 'X-Robots-Tag', 'X-SourceMap'],
    ...['X-DNS-Prefetch-Control', 'X-Permitted-Cross-Domain-Policies', 'X-Download-Options', 'X-Content-Security-Policy'],
    ...['X-LiteSpeed-Location', 'X-LiteSpeed-Cache-Control', 'X-Sendfile', 'X-Accel-Buffering', 'X-Lighttpd-Send-File'],
    ...['X-Forwarded-Host', 'X-Original-URL', 'X-Rewrite-URL', 'X-HTTP-Method-Override', 'X-Envoy-Immediate-Health-Check-Fail'],
    ...['X-Middleware-Rewrite', 'X-Amz-Website-Redirect-Location', 'Strict-Transport-Security', 'Content-Security-Policy'],
    ...['Access-Control-Allow-Origin', 'Refresh', 'Link', 'Location', 'Clear-Site-Data', 'Alt-Svc', 'Content-Location'],
  ])('cannot set the response header %s, which controls browsers, proxies, or servers', async (name) => {
    host.script(jsonReply(plainCompletion('hi'), 200, { [name]: 'theirs', 'X-Report-Id': '7' }));
    const { headers } = await chat('app');
    expect([headers['x-report-id'], headers[name.toLowerCase()]]).not.toContain('theirs');
    expect(headers['x-report-id']).toBe('7');
  });

  it('returns the number of attempts, and the headers of the last attempt', async () => {
    host.script(errorReply(503, { 'X-First': '1' }), jsonReply(plainCompletion('hi'), 200, { 'X-Second': '2' }));
    const { headers } = await chat('app');
    expect([headers['x-upstream-attempts'], headers['x-first'], headers['x-second']]).toEqual(['2', undefined, '2']);
    service.forgetFailures();
  });
});

describe('model', () => {
  it('receives no headers and no query of the client', async () => {
    const { headers } = await chat('m', { 'x-conversation-id': 'c1' }, '?q=1');
    const sent = model.requests.at(-1) ?? expect.unreachable();
    expect([sent.path, headers['x-upstream-attempts']]).toEqual(['/v1/chat/completions', '1']);
    expect(sent.headers).not.toHaveProperty('x-conversation-id');
  });
});

describe('adapter', () => {
  it('is called at the endpoint of its model with the selected upstream entry and a per-request key', async () => {
    host.script(errorReply(429), jsonReply(plainCompletion('hi')));
    const { status, headers } = await chat('adapted', { 'x-conversation-id': 'c1', 'x-upstream-key': 'mine' }, '?q=1');
    expect([status, headers['x-upstream-attempts']]).toEqual([200, '2']);
    const [first, second] = host.requests.slice(-2);
    expect(first?.headers).toMatchObject({
      'x-upstream-endpoint': 'http://one.internal/v1',
      'x-upstream-key': 'first-key',
      'x-upstream-extra-data': '{"zone":"\\u00e9","deep":[1]}',
      'x-conversation-id': 'c1',
    });
    expect(second?.headers).toMatchObject({ 'x-upstream-key': 'second-key', 'x-upstream-extra-data': 'as it is' });
    expect([first?.path, first?.body]).toEqual(['/openai/deployments/adapted/chat/completions?q=1', { messages: hello }]);
    const key = String(first?.headers['api-key']);
    expect(['first-key', callerKey, 'undefined']).not.toContain(key);
    const after = await service.sendRequest({
      path: '/v1/chat/completions',
      headers: withKey(key),
      body: { model: 'm', messages: hello },
    });
    expect(after.status).toBe(401);
    service.forgetFailures();
  });

  it('can call other deployments during the call', async () => {
    let status = 0;
    host.script(async (exchange) => {
      const headers = withKey(String(exchange.received.headers['api-key']));
      status = (await service.sendRequest({ path: '/v1/chat/completions', headers, body: { model: 'm', messages: hello } }))
        .status;
      await jsonReply(plainCompletion('hi'))(exchange);
    });
    expect([(await chat('adapted')).status, status]).toEqual([200, 200]);
  });

  it('is the only upstream that receives its key and the client headers', async () => {
    host.script(errorReply(503));
    const { status } = await chat('adapted', { 'x-conversation-id': 'c1' });
    expect(status).toBe(200);
    const sent = model.requests.at(-1)?.headers ?? {};
    for (const name of ['api-key', 'x-conversation-id', 'x-upstream-key']) expect(sent).not.toHaveProperty(name);
    service.forgetFailures();
  });

  it('never exposes its upstream entry to the client', async () => {
    host.script(errorReply(400, {}, { message: 'no first-key at http://one.internal/v1 {"zone":"\\u00e9","deep":[1]}' }));
    expect((await chat('adapted')).error.message).toBe('no *** at *** ***');
  });

  it('returns embeddings', async () => {
    host.script(jsonReply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'x' }));
    const path = '/openai/deployments/vectors/embeddings?q=1';
    const { status, headers } = await service.sendRequest({
      path,
      headers: withKey(),
      body: { input: 'x', model: 'as it came' },
    });
    expect([status, headers['x-upstream-attempts']]).toEqual([200, '1']);
    expect([getLastRequest().path, getLastRequest().body]).toEqual(['/embed?v=1&q=1', { input: 'x', model: 'as it came' }]);
    expect(getLastRequest().headers).toMatchObject({ 'x-upstream-key': 'first-key' });
    expect(getLastRequest().headers).not.toHaveProperty('x-upstream-endpoint');
  });
});
