import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getChatPath, type TestService } from '#test/start-service.ts';
import {
  AdjustableClock,
  createProviderEntry,
  type Issuer,
  requestUserInfo,
  startIssuer,
  startWithProviders,
  withProviders,
} from './support.ts';

let first: Issuer;
let second: Issuer;
let service: TestService;

beforeAll(async () => {
  [first, second] = await Promise.all([startIssuer(), startIssuer('ES256')]);
  service = await startWithProviders(
    {
      corporate: createProviderEntry(first, { rolesClaim: 'roles' }),
      partner: createProviderEntry(second, { userIdClaim: 'email' }),
    },
    { keys: { 'team-key': { project: 'team' } }, roles: { default: { limits: { m: { requestDay: 1 } } } } },
  );
});

afterAll(async () => {
  await service.close();
  await Promise.all([first.stop(), second.stop()]);
});

const bearer = (token: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${token}` });

describe('users of two identity providers', () => {
  it('are identified by the claims that are configured for their provider', async () => {
    const claims = { sub: 'ada', email: 'ada@example.com', roles: ['staff'] };
    expect((await requestUserInfo(service, await first.token(claims))).json).toEqual({
      user: 'ada',
      project: 'corporate',
      roles: ['staff'],
    });
    expect((await requestUserInfo(service, await second.token(claims))).json).toEqual({
      user: 'jwt:partner:ada@example.com',
      project: 'partner',
      roles: ['default'],
    });
  });

  it('have separate limits, even if their IDs equal those of other providers or API keys', async () => {
    const chat = async (headers: Record<string, string>) =>
      (
        await service.sendRequest({
          path: getChatPath('m'),
          headers: { 'content-type': 'application/json', ...headers },
          body: { messages: hello },
        })
      ).status;
    const tokens = [
      await first.token({ sub: 'eve' }),
      await second.token({ email: 'eve' }),
      await first.token({ sub: 'jwt:partner:eve' }),
      await first.token({ sub: 'key:team' }),
      await second.token({ email: 'key:team' }),
    ];
    for (const token of tokens) expect([await chat(bearer(token)), await chat(bearer(token))]).toEqual([200, 429]);
    expect([await chat({ 'api-key': 'team-key' }), await chat({ 'api-key': 'team-key' })]).toEqual([200, 429]);
  });
});

describe('call of an application by a user', () => {
  it('identifies the user with a per-request key, and never with the token', async () => {
    const token = await first.token({ sub: 'grace', roles: ['staff'] });
    const received: string[] = [];
    let userInfo: unknown;
    await using application = await startScriptedUpstream(async (exchange) => {
      received.push(JSON.stringify(exchange.received.headers), exchange.received.text);
      const headers = { 'api-key': String(exchange.received.headers['api-key']) };
      userInfo = (await node.sendRequest({ method: 'GET', path: '/v1/user/info', headers })).json;
      await jsonReply(plainCompletion('hi'))(exchange);
    });
    await using node = await startWithProviders(
      { corporate: createProviderEntry(first, { rolesClaim: 'roles' }) },
      { applications: { app: { endpoint: `${application.url}/app` } } },
    );
    const answer = await node.sendRequest({ path: getChatPath('app'), headers: bearer(token), body: { messages: hello } });
    expect(answer.status).toBe(200);
    expect(userInfo).toEqual({ user: 'grace', project: 'corporate', roles: ['staff'] });
    expect(received.join()).not.toContain(token);
    expect(received.join()).not.toContain(token.split('.')[2]);
  });
});

describe('verified token', () => {
  it('is verified again after a minute', async () => {
    const clock = new AdjustableClock();
    await using own = await startIssuer();
    await using node = await startWithProviders({ p: createProviderEntry(own) }, {}, { clock });
    const token = await own.token({ exp: Math.floor(clock.epochMs() / 1000) + 90 });
    expect((await requestUserInfo(node, token)).status).toBe(200);
    clock.moveCalendar(121_000);
    expect((await requestUserInfo(node, token)).status).toBe(200);
    clock.advance(60_000);
    expect((await requestUserInfo(node, token)).error.message).toBe('The token has expired. Get a new one.');
  });

  it('is verified again after a configuration change, without fetching the keys again', async () => {
    await using own = await startIssuer();
    await using node = await startWithProviders({ p: createProviderEntry(own) });
    const token = await own.token();
    expect((await requestUserInfo(node, token)).status).toBe(200);
    node.reload(withProviders({ p: createProviderEntry(own, { audience: 'https://elsewhere.example' }) }));
    expect((await requestUserInfo(node, token)).error.code).toBe('invalid_token');
    node.reload(withProviders({ p: createProviderEntry(own, { userIdClaim: 'aud' }), q: createProviderEntry(second) }));
    expect((await requestUserInfo(node, token)).json).toMatchObject({ user: 'https://parley.example/api' });
    expect(own.countKeyRequests()).toBe(1);
    node.reload(withProviders({ q: createProviderEntry(second) }));
    expect((await requestUserInfo(node, token)).error.code).toBe('invalid_token');
    node.reload(withProviders({}));
    expect((await requestUserInfo(node, token)).error.code).toBe('invalid_token');
  });
});
