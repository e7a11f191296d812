import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { chatPath, type TestService } from '#test/start-service.ts';
import { entryOf, type Issuer, startIssuer, startWith } from './support.ts';

const oddKey = 'aaaa.bbbb.cccc';
let issuer: Issuer;
let host: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [issuer, host] = [await startIssuer(), await startScriptedUpstream(jsonReply(plainCompletion('hi')))];
  service = await startWith(
    { corporate: entryOf(issuer) },
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

async function sentTo(deployment: string, headers: Record<string, string>) {
  const asking = { path: chatPath(deployment), headers: { 'content-type': 'application/json', ...headers } };
  expect((await service.sendRequest({ ...asking, body: { messages: hello } })).status).toBe(200);
  return host.requests.at(-1)?.headers ?? expect.unreachable();
}

it('A user’s token goes to an application that is to have it, and to no other', async () => {
  const authorization = `Bearer ${await issuer.token({ sub: 'ada' })}`;
  expect((await sentTo('trusted', { authorization })).authorization).toBe(authorization);
  expect((await sentTo('trusted', { 'api-key': authorization.slice(7) })).authorization).toBe(authorization);
  expect(await sentTo('other', { authorization })).not.toHaveProperty('authorization');
});

it.each(['team-key', oddKey])('the key %s is never forwarded', async (key) => {
  expect(await sentTo('trusted', { authorization: `Bearer ${key}` })).not.toHaveProperty('authorization');
  const sent = await sentTo('trusted', { 'api-key': key });
  expect(JSON.stringify(sent)).not.toContain(key);
});

it('An application that calls another hands on no token', async () => {
  host.script(
    async (answering) => {
      const headers = { authorization: `Bearer ${answering.received.headers['api-key']}` };
      await service.sendRequest({
        path: chatPath('trusted'),
        headers: { 'content-type': 'application/json', ...headers },
        body: { messages: hello },
      });
      await jsonReply(plainCompletion('outer'))(answering);
    },
    jsonReply(plainCompletion('inner')),
  );
  const authorization = `Bearer ${await issuer.token({ sub: 'ada' })}`;
  await sentTo('other', { authorization });
  const [inner] = host.requests.slice(-1);
  expect(inner?.path).toBe('/trusted');
  expect(inner?.headers).not.toHaveProperty('authorization');
});
