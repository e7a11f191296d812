import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createClient, post, readResponse } from './support.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const upstreams = [{ endpoint: upstream.endpoint, model: 'up' }];
  service = await startService({
    models: {
      m: { upstreams },
      small: { upstreams, limits: { maxTotalTokens: 60 } },
      staff: { upstreams, userRoles: ['staff'] },
      vectors: { type: 'embedding', upstreams },
    },
    roles: { default: { limits: { m: {} } }, poor: { limits: { '*': { requestDay: 1 } } } },
    keys: { [callerKey]: { project: 'p' }, other: { project: 'q' }, poor: { project: 'r', role: 'poor' } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

async function readLastMessages(): Promise<{ role: string; content: unknown }[]> {
  return (await upstream.request(upstream.requests.length - 1)).body.messages as never;
}

const getError = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error?.code];

describe('Responses API', () => {
  it('rejects requests in the order of checks of all calls', async () => {
    const path = '/v1/responses';
    const body = { model: 'm', input: 'Hi' };
    expect(getError(await service.sendRequest({ path, body }))).toEqual([401, 'missing_credentials']);
    expect(getError(await post(service, { ...body, model: 'gone', input: 1 }))).toEqual([404, 'model_not_found']);
    expect(getError(await post(service, { ...body, model: 'staff' }))).toEqual([403, 'access_denied']);
    expect(getError(await post(service, { ...body, model: 'vectors' }))).toEqual([400, 'operation_not_supported']);
    expect(getError(await post(service, { input: 'Hi' }))).toEqual([400, 'invalid_request']);
    expect(getError(await post(service, { ...body, input: 1 }))).toEqual([400, 'invalid_request']);
  });

  it('counts a call against the limits of its caller', async () => {
    upstream.script(eventsReply(...plainReply('Hi')));
    const createAsPoor = () =>
      service.sendRequest({ path: '/v1/responses', headers: withKey('poor'), body: { model: 'm', input: 'Hi' } });
    const first = await createAsPoor();
    expect([first.status, first.headers['x-ratelimit-remaining-requests']]).toEqual([200, '0']);
    expect(getError(await createAsPoor())).toEqual([429, 'request_limit_exceeded']);
  });

  it('rejects WebSocket with an explanation', async () => {
    for (const path of ['/v1/responses', '/openai/v1/responses']) {
      const headers = { ...withKey(callerKey), connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
      const { status, text } = await service.sendRequest({ method: 'GET', path, headers });
      expect(status).toBe(426);
      expect(JSON.parse(text).error.message).toContain('POST');
      expect((await service.sendRequest({ method: 'GET', path, headers: withKey(callerKey) })).status).toBe(405);
    }
  });

  it('adds the mode of allowed_tools if the request omits it', async () => {
    const f = { type: 'function', name: 'f' };
    const getToolChoice = async (fields: object): Promise<unknown> => {
      upstream.script(eventsReply(...plainReply('Hi')));
      const tool_choice = { type: 'allowed_tools', tools: [f], ...fields };
      return readResponse(await post(service, { model: 'm', input: 'Hi', tools: [f], tool_choice })).tool_choice;
    };
    expect(await getToolChoice({})).toEqual({ type: 'allowed_tools', mode: 'auto', tools: [f] });
    expect(await getToolChoice({ mode: 'required' })).toEqual({ type: 'allowed_tools', mode: 'required', tools: [f] });
  });

  it('counts the tokens of an input', async () => {
    const counted = await createClient(service).responses.inputTokens.count({ model: 'm', input: 'x'.repeat(400) });
    expect(counted).toMatchObject({ object: 'response.input_tokens', input_tokens: 100 });
  });
});

describe('input that is too long', () => {
  const long = 'y'.repeat(160);
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c', output: long };

  it('is rejected without truncation', async () => {
    const requestCount = upstream.requests.length;
    const { status, text } = await post(service, { model: 'small', input: long.repeat(4) });
    expect([status, JSON.parse(text).error]).toMatchObject([400, { code: 'context_length_exceeded', param: 'input' }]);
    expect(upstream.requests).toHaveLength(requestCount);
  });

  it('loses its oldest items with truncation auto, but no part of a call', async () => {
    upstream.script(eventsReply(...plainReply('Hi')));
    const input = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: long },
      call,
      output,
      { role: 'user', content: long },
      { role: 'user', content: 'And now?' },
    ];
    const response = readResponse(await post(service, { model: 'small', input, truncation: 'auto' }));
    expect(response.truncation).toBe('auto');
    expect((await readLastMessages()).map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', `${long}\n\nAnd now?`],
    ]);
  });

  it('is rejected if its last item alone is too long', async () => {
    const input = [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: long.repeat(4) },
    ];
    expect(getError(await post(service, { model: 'small', input, truncation: 'auto' }))).toEqual([
      400,
      'context_length_exceeded',
    ]);
  });
});

describe('compacted conversation', () => {
  it('is summarized by the deployment, encrypted, and replaces the earlier items', async () => {
    upstream.script(eventsReply(...plainReply('The user lives ', 'in Oslo.')));
    const input = [{ role: 'user' as const, content: 'I live in Oslo.' }];
    const compacted = await createClient(service).responses.compact({ model: 'm', input, instructions: 'Be kind.' });
    expect(compacted).toMatchObject({ object: 'response.compaction', usage: { input_tokens: 7, output_tokens: 5 } });
    expect((await readLastMessages()).map(({ role }) => role)).toEqual(['system', 'user']);
    expect(JSON.stringify(compacted)).not.toContain('Oslo');
    const [item] = compacted.output;
    expect(item).toMatchObject({ type: 'compaction', id: expect.stringMatching(/^cmp_/) });
    upstream.script(eventsReply(...plainReply('Oslo')));
    const next = [item, { role: 'user', content: 'Where do I live?' }];
    readResponse(await post(service, { model: 'm', input: next }));
    const [requestCount] = await readLastMessages();
    expect(requestCount).toMatchObject({ role: 'user', content: expect.stringContaining('The user lives in Oslo.') });
    expect(requestCount).toMatchObject({ content: expect.stringMatching(/Where do I live\?$/) });
    const foreign = await service.sendRequest({
      path: '/v1/responses',
      headers: withKey('other'),
      body: { model: 'm', input: next },
    });
    expect(getError(foreign)).toEqual([400, 'invalid_encrypted_content']);
  });
});
