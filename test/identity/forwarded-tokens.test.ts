import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getChatPath, type TestService } from '#test/start-service.ts';
import { createProviderEntry, type Issuer, startIssuer, startWithProviders } from './support.ts';

const oddKey = 'aaaa.bbbb.cccc';
let issuer: Issuer;
let host: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [issuer, host] = [await startIssuer(), await startScriptedUpstream(jsonReply(plainCompletion('hi')))];
  service = await startWithProviders(
    { corporate: createProviderEntry(issuer) },
    {
      keys: { 'team-key': { project: 'team' }, [oddKey]: { project: 'odd' } },
      applications: {
        trusted: { endpoint: `${host.url}/trusted`, forwardAuthToken: true },
        other: { endpoint: `${host.url}/other` },
      },
    },
  );
});

afterAll(async () => {
  await service.close();
  await host.close();
  await issuer.stop();
});

async function captureHeaders(deployment: string, headers: Record<string, string>) {
  const request = { path: getChatPath(deployment), headers: { 'content-type': 'application/json', ...headers } };
  expect((await service.sendRequest({ ...request, body: { messages: hello } })).status).toBe(200);
  return host.requests.at(-1)?.headers ?? expect.unreachable();
}

it('a user token is forwarded only to an application with forwardAuthToken', async () => {
  const authorization = `Bearer ${await issuer.token({ sub: 'ada' })}`;
  expect((await captureHeaders('trusted', { authorization })).authorization).toBe(authorization);
  expect((await captureHeaders('trusted', { 'api-key': authorization.slice(7) })).authorization).toBe(authorization);
  expect(await captureHeaders('other', { authorization })).not.toHaveProperty('authorization');
});

it.each(['team-key', oddKey])('the key %s is never forwarded', async (key) => {
  expect(await captureHeaders('trusted', { authorization: `Bearer ${key}` })).not.toHaveProperty('authorization');
  const sent = await captureHeaders('trusted', { 'api-key': key });
  expect(JSON.stringify(sent)).not.toContain(key);
});

it('an application that calls another application forwards no token', async () => {
  host.script(
    async (exchange) => {
      const headers = { authorization: `Bearer ${exchange.received.headers['api-key']}` };
      await service.sendRequest({
        path: getChatPath('trusted'),
        headers: { 'content-type': 'application/json', ...headers },
        body: { messages: hello },
      });
      await jsonReply(plainCompletion('outer'))(exchange);
    },
    jsonReply(plainCompletion('inner')),
  );
  const authorization = `Bearer ${await issuer.token({ sub: 'ada' })}`;
  await captureHeaders('other', { authorization });
  const [inner] = host.requests.slice(-1);
  expect(inner?.path).toBe('/trusted');
  expect(inner?.headers).not.toHaveProperty('authorization');
});
