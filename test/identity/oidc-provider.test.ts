import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import type { TestService } from '#test/start-service.ts';
import { audience, type OidcServer, startOidcServer } from './oidc-server.ts';
import { AdjustableClock, requestUserInfo, startWithProviders } from './support.ts';

const roles = new Map<string, unknown>([
  ['ada', ['staff', 'researcher']],
  ['bob', []],
]);
let oidc: OidcServer;
let service: TestService;

beforeAll(async () => {
  oidc = await startOidcServer((user) => roles.get(user));
  service = await startWithProviders(
    { corporate: { issuer: oidc.issuer, audience, rolesClaim: 'realm_access.roles' } },
    { roles: { default: { limits: { m: { requestDay: 1 } } }, staff: { limits: { m: { requestDay: 3 } } } } },
  );
});

afterAll(async () => {
  await service.close();
  await oidc.stop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('token of an OpenID provider', () => {
  it('identifies the user, the provider, and the roles', async () => {
    const { json, status } = await requestUserInfo(service, await oidc.userToken('ada'));
    expect([status, json]).toEqual([200, { user: 'ada', project: 'corporate', roles: ['staff', 'researcher'] }]);
  });

  it('of a client, or of a user without roles, has the role default', async () => {
    expect((await requestUserInfo(service, await oidc.robotToken())).json).toMatchObject({ user: 'robot', roles: ['default'] });
    expect((await requestUserInfo(service, await oidc.userToken('bob'))).json).toMatchObject({ user: 'bob', roles: ['default'] });
  });

  it('is verified with keys from the OpenID configuration, which is fetched once for all tokens', async () => {
    await Promise.all([oidc.robotToken(), oidc.userToken('ada')].map(async (token) => requestUserInfo(service, await token)));
    const keyRequests = oidc.asked.filter((path) => /well-known|jwks/.test(path));
    expect(keyRequests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  it('is accepted in Authorization and Api-Key', async () => {
    const token = await oidc.userToken('ada');
    const chat = (headers: Record<string, string>) =>
      service.sendRequest({
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', ...headers },
        body: { model: 'staffed', messages: hello },
      });
    expect((await chat(bearer(token))).status).toBe(200);
    expect((await chat({ 'api-key': token })).status).toBe(200);
    expect((await chat({ 'api-key': token, ...bearer(token) })).status).toBe(200);
    const differing = await chat({ 'api-key': 'caller-key', ...bearer(token) });
    expect([differing.status, differing.error.code]).toEqual([400, 'ambiguous_credentials']);
  });
});

describe('roles of a token', () => {
  const listModels = async (token: string): Promise<string[]> => {
    const { json } = await service.sendRequest({ method: 'GET', path: '/v1/models', headers: bearer(token) });
    return (json as { data: { id: string }[] }).data.map(({ id }) => id);
  };

  it('allow some deployments and hide the rest', async () => {
    const [ada, bob] = await Promise.all([oidc.userToken('ada'), oidc.userToken('bob')]);
    expect(await listModels(ada)).toEqual(['m', 'staffed']);
    expect(await listModels(bob)).toEqual(['m']);
    const chat = (token: string) =>
      service.sendRequest({
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: { model: 'staffed', messages: hello },
      });
    expect((await chat(ada)).status).toBe(200);
    const rejection = await chat(bob);
    expect([rejection.status, rejection.error.code]).toEqual([403, 'access_denied']);
  });

  it('set the limits of the user across tokens', async () => {
    const admitted = async (user: string): Promise<number> => {
      const statuses: number[] = [];
      for (let call = 0; call < 5; call += 1) {
        const headers = { 'content-type': 'application/json', ...bearer(await oidc.userToken(user)) };
        statuses.push(
          (await service.sendRequest({ path: '/v1/chat/completions', headers, body: { model: 'm', messages: hello } })).status,
        );
      }
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      return statuses.filter((status) => status === 200).length;
    };
    expect(await admitted('ada')).toBe(3);
    expect(await admitted('bob')).toBe(1);
  });
});

describe('keys of an OpenID provider', () => {
  const configured = ({ issuer }: OidcServer) => ({ corporate: { issuer, audience } });

  it('can change between two tokens', async () => {
    await using own = await startOidcServer();
    await using node = await startWithProviders(configured(own));
    const before = await own.robotToken();
    expect((await requestUserInfo(node, before)).status).toBe(200);
    await own.rotate();
    expect((await requestUserInfo(node, await own.robotToken())).status).toBe(200);
    node.reload({ ...node.snapshot.current().configuration });
    const { error } = await requestUserInfo(node, before);
    expect(error).toMatchObject({
      code: 'invalid_token',
      message: 'The token is signed with a key that its issuer does not publish.',
    });
  });

  it('are used while the provider is unavailable', async () => {
    const clock = new AdjustableClock();
    const own = await startOidcServer();
    await using node = await startWithProviders(configured(own), {}, { clock });
    const [first, second] = await Promise.all([own.robotToken(), own.robotToken()]);
    expect((await requestUserInfo(node, first)).status).toBe(200);
    await own.stop();
    clock.advance(61_000);
    expect((await requestUserInfo(node, first)).status).toBe(200);
    expect((await requestUserInfo(node, second)).status).toBe(200);
  });

  it('return 503 instead of 401 if they cannot be fetched, while other providers work', async () => {
    const stoppedServer = await startOidcServer();
    const token = await stoppedServer.robotToken();
    await stoppedServer.stop();
    const errorMessages: string[] = [];
    await using node = await startWithProviders(
      { gone: { issuer: stoppedServer.issuer, audience }, corporate: { issuer: oidc.issuer, audience } },
      {},
      { reportError: (message) => errorMessages.push(message) },
    );
    const answer = await requestUserInfo(node, token);
    expect([answer.status, answer.error.type, answer.error.code]).toEqual([503, 'server_overloaded', 'overloaded']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(errorMessages).toContain('cannot fetch the keys of the identity provider gone');
    expect((await requestUserInfo(node, await oidc.robotToken())).status).toBe(200);
  });
});
