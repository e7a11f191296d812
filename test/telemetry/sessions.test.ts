import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let service: TestService;
const telemetry = new RecordedTelemetry();

beforeAll(async () => {
  const configuration = {
    models: { demo: { upstreams: [{ protocol: 'demo' }] } },
    applications: {
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'demo' },
      },
    },
  };
  service = await startService(configuration, { telemetry });
});

afterAll(() => service.close());

const id = '0199a213-81c0-7800-8aa1-bbab2a035a53';
const chat = { path: '/v1/chat/completions', body: { model: 'demo', messages: hello } };
const message = (user_id: string) => ({
  path: '/anthropic/v1/messages',
  body: { model: 'demo', max_tokens: 10, messages: hello, metadata: { user_id } },
});
const response = { path: '/v1/responses', body: { model: 'demo', input: 'Hello', store: false, prompt_cache_key: id } };

describe('the recorded session of a call', () => {
  it.each([
    ['the header of Claude Code', { ...chat, headers: { 'x-claude-code-session-id': id } }],
    ['metadata of Claude Code', message(JSON.stringify({ device_id: 'd', account_uuid: '', session_id: id }))],
    ['metadata of an earlier Claude Code', message(`user_0f_account__session_${id}`)],
    ['the header of Codex', { ...chat, headers: { session_id: id } }],
    ['the cache key of Codex', response],
    ['x-conversation-id', { ...chat, headers: { 'x-conversation-id': id } }],
  ])('is read from %s', async (_from, request) => {
    const headers = { ...withKey(), ...('headers' in request ? request.headers : {}) };
    const { status } = await service.sendRequest({ ...request, headers });
    expect([status, telemetry.records.at(-1)?.session]).toEqual([200, id]);
  });

  it('applies to inner calls of an application', async () => {
    const before = telemetry.records.length;
    const body = { model: 'quick', messages: hello };
    await service.sendRequest({ ...chat, headers: { ...withKey(), 'x-conversation-id': id }, body });
    expect(telemetry.records.slice(before).map(({ session }) => session)).toEqual([id, id]);
  });

  it.each([
    ['text that is too long', { ...chat, headers: { 'x-conversation-id': 'x'.repeat(129) } }],
    ['text with a space', { ...chat, headers: { 'x-conversation-id': 'a b' } }],
    ['JSON without an id', message('{"session_id":{}}')],
    ['no id', chat],
  ])('is absent for %s', async (_from, request) => {
    const headers = { ...withKey(), ...('headers' in request ? request.headers : {}) };
    const { status } = await service.sendRequest({ ...request, headers });
    expect([status, telemetry.records.at(-1)?.session]).toEqual([200, undefined]);
  });
});
