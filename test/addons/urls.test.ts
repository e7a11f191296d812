import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { startServer } from '#test/rest-tools.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService } from '#test/start-service.ts';

const operation = { operationId: 'getWeather', responses: { 200: { description: 'The weather.' } } };
const document = { openapi: '3.1.0', info: { title: 'Weather', version: '1' }, paths: { '/weather': { get: operation } } };

let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
});

afterAll(() => upstream.close());

/** Sends a request that references an addon by an unconfigured URL. */
async function askWithAddon(security: object) {
  const server = await startServer((_request, response) => response.end(JSON.stringify(document)));
  await using service = await startService({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
    keys: { [callerKey]: { project: 'test' } },
    security,
  });
  const body = { model: 'm', messages: hello, addons: [{ url: `${server.url}/openapi.json` }] };
  const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
  const answer = await service.sendRequest({ path: '/v1/chat/completions', headers, body });
  return { answer, server };
}

describe('an addon that a request references by an unconfigured URL', () => {
  it('offers the tools of its document to the model', async () => {
    const { answer } = await askWithAddon({ allowPrivateNetworks: ['127.0.0.1'] });
    expect(answer.status).toBe(200);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ tools: [{ function: { name: 'getWeather' } }] });
  });

  it('appears as a failed stage if the network guard blocks the URL', async () => {
    const { answer, server } = await askWithAddon({ allowPrivateNetworks: [] });
    expect(answer.status).toBe(200);
    expect(answer.completion.choices[0]?.message.custom_content?.stages).toMatchObject([
      { name: expect.any(String), status: 'failed' },
    ]);
    expect(server.seen).toEqual([]);
  });

  it('is rejected with 400 if security.addonUrls has the value configured', async () => {
    const { answer, server } = await askWithAddon({ allowPrivateNetworks: ['127.0.0.1'], addonUrls: 'configured' });
    expect([answer.status, answer.error]).toEqual([
      400,
      {
        type: 'invalid_request_error',
        message: 'No configured addon has this url, and security.addonUrls does not allow other addresses.',
        param: 'addons[0]',
        code: 'unknown_addon',
      },
    ]);
    expect(server.seen).toEqual([]);
  });
});
