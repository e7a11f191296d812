import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { type Answering, jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { accept, deleteConsent, formOf, isAccepted, required } from './support.ts';

const applicationTypeSchemaId = 'https://any.example/custom_application_schemas/quickapps';

let upstream: ScriptedUpstream;
let host: ScriptedUpstream;
let service: TestService;

function toConfiguration(): object {
  const properties = { temperature: 0, instructions: 'Be kind.', model: 'model' };
  const byDescription = { conditions: [{ condition_type: 'match', property_name: 'description', expression: 'mail' }] };
  return {
    models: { model: { upstreams: [{ endpoint: upstream.endpoint }] } },
    applications: {
      quick: {
        applicationTypeSchemaId,
        applicationProperties: { ...properties, applications_as_tools: ['leaf', byDescription] },
        dependencies: ['declared'],
      },
      leaf: { endpoint: `${host.url}/leaf`, features: required(true) },
      mailbox: { endpoint: `${host.url}/mailbox`, description: 'Reads mail.' },
      secret: { endpoint: `${host.url}/secret`, description: 'Reads mail of others.', userRoles: ['staff'] },
      declared: { endpoint: `${host.url}/declared` },
    },
    keys: { 'caller-key': { project: 'test' }, staff: { project: 'staff', role: 'staff' } },
  };
}

beforeAll(async () => {
  upstream = await startScriptedUpstream(callLeafOnce);
  host = await startScriptedUpstream(jsonReply(plainCompletion('from the leaf')));
  service = await startService(toConfiguration());
});

afterAll(async () => {
  await service.close();
  await host.close();
  await upstream.close();
});

/** A model that calls the tool `leaf`, and says what the tool said. */
async function callLeafOnce(answering: Answering): Promise<void> {
  const messages = answering.received.body.messages as { role: string; content: string }[];
  const last = messages.at(-1);
  if (last?.role === 'tool') return jsonReply(plainCompletion(last.content))(answering);
  const call = { id: 'call_1', type: 'function', function: { name: 'leaf', arguments: '{"query": "what is new?"}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))(answering);
}

it('the form of a quick app has its model, its tools, and its dependencies for this caller', async () => {
  const form = {
    quick: required(false),
    declared: required(false),
    model: required(false),
    leaf: required(true),
    mailbox: required(false),
  };
  expect(await formOf(service, 'quick')).toEqual(form);
  expect(await formOf(service, 'quick', 'staff')).toEqual({ ...form, secret: required(false) });
});

it('a tool of a quick app needs the user’s consent, and the reply reports that it is missing', async () => {
  const ask = async () => (await service.chat('quick', { messages: hello })).completion.choices[0]?.message;
  const refused = await ask();
  expect(host.requests).toHaveLength(0);
  expect(refused?.content).toContain('GET /v1/consent/quick');
  expect(refused?.custom_content?.stages).toMatchObject([{ status: 'failed' }]);
  await accept(service, 'quick');
  const answered = await ask();
  expect(answered?.content).toContain('from the leaf');
  expect(answered?.custom_content?.stages).toMatchObject([{ status: 'completed' }]);
  await deleteConsent(service, 'quick');
  expect((await ask())?.content).toContain('GET /v1/consent/quick');
});

it('a new deployment that meets the conditions of a quick app makes its consent outdated', async () => {
  await accept(service, 'quick');
  const configuration = toConfiguration() as { applications: object };
  const more = { endpoint: `${host.url}/more`, description: 'Sends mail.', features: required(true) };
  service.reload({ ...configuration, applications: { ...configuration.applications, more } });
  expect(await isAccepted(service, 'quick')).toBe(false);
  expect(await formOf(service, 'quick')).toMatchObject({ more: required(true) });
});
