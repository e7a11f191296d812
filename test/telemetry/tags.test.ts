import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest } from '#test/send-request.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

let telemetry: RecordedTelemetry;
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  telemetry = new RecordedTelemetry();
  upstream = await startScriptedUpstream();
  const properties = { model: 'm', instructions: 'Be brief.', temperature: 0 };
  const quickApp = {
    applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
    applicationProperties: properties,
  };
  service = await startService(
    {
      models: { m: { upstreams: [{ protocol: 'demo' }] } },
      applications: { app: { endpoint: `${upstream.endpoint}/app` }, quick: quickApp },
      keys: { 'caller-key': { project: 'search' }, other: { project: 'other' } },
      projects: { search: { tags: { team: 'search', env: 'prod' } } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    },
    { telemetry },
  );
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

async function getCallTags(deployment: string, headers: Record<string, string>, key = 'caller-key') {
  const before = telemetry.records.length;
  const { status } = await service.chat(deployment, { messages: hello }, { ...withKey(key), ...headers });
  expect(status).toBe(200);
  await telemetry.ended();
  return telemetry.records.slice(before).map(({ tags }) => tags && { ...tags });
}

it('a call has the tags of its request and of its project', async () => {
  expect(await getCallTags('m', { 'x-parley-tags': 'env=test,run=7' })).toEqual([{ team: 'search', env: 'test', run: '7' }]);
  expect(await getCallTags('m', {})).toEqual([{ team: 'search', env: 'prod' }]);
  expect(await getCallTags('m', {}, 'other')).toEqual([undefined]);
});

it('an invalid list of tags is rejected with the name of the header', async () => {
  const header = Array.from({ length: 17 }, (_, index) => `t${index}=v`).join();
  const { status, error } = await service.chat('m', { messages: hello }, { ...withKey('caller-key'), 'x-parley-tags': header });
  expect([status, error]).toEqual([
    400,
    {
      type: 'invalid_request_error',
      message: 'x-parley-tags can have at most 16 tags.',
      param: 'x-parley-tags',
      code: 'invalid_request',
    },
  ]);
});

it('inner calls inherit the tags, and cannot replace them', async () => {
  const tags = { team: 'search', env: 'prod', run: '7' };
  expect(await getCallTags('quick', { 'x-parley-tags': 'run=7' })).toEqual([tags, tags]);
  upstream.script(async (exchange) => {
    const { received, response } = exchange;
    expect(received.headers).not.toHaveProperty('x-parley-tags');
    const headers = {
      ...{ 'api-key': String(received.headers['api-key']), 'content-type': 'application/json' },
      'x-parley-tags': 'run=8,step=2',
    };
    await sendRequest(service.url, { path: getChatPath('m'), headers, body: { messages: hello } });
    exchange.head(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(plainCompletion('done')));
  });
  expect(await getCallTags('app', { 'x-parley-tags': 'run=7' })).toEqual([tags, { ...tags, step: '2' }]);
});
