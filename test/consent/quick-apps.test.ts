import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { accept, createForm, deleteConsent, getForm, isAccepted } from './support.ts';

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
      leaf: { endpoint: `${host.url}/leaf`, features: createForm(true) },
      mailbox: { endpoint: `${host.url}/mailbox`, description: 'Reads mail.' },
      secret: { endpoint: `${host.url}/secret`, description: 'Reads mail of other people.', userRoles: ['staff'] },
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

/** Calls the tool `leaf`, then replies with the result of the tool. */
async function callLeafOnce(exchange: UpstreamExchange): Promise<void> {
  const messages = exchange.received.body.messages as { role: string; content: string }[];
  const last = messages.at(-1);
  if (last?.role === 'tool') return jsonReply(plainCompletion(last.content))(exchange);
  const call = { id: 'call_1', type: 'function', function: { name: 'leaf', arguments: '{"query": "what is new?"}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))(exchange);
}

it('the form of a quick app contains its model, its tools, and its dependencies that the caller can use', async () => {
  const form = {
    quick: createForm(false),
    declared: createForm(false),
    model: createForm(false),
    leaf: createForm(true),
    mailbox: createForm(false),
  };
  expect(await getForm(service, 'quick')).toEqual(form);
  expect(await getForm(service, 'quick', 'staff')).toEqual({ ...form, secret: createForm(false) });
});

it('a quick app calls a tool only with the user’s consent, and its reply reports missing consent', async () => {
  const sendChat = async () => (await service.chat('quick', { messages: hello })).completion.choices[0]?.message;
  const rejected = await sendChat();
  expect(host.requests).toHaveLength(0);
  expect(rejected?.content).toContain('GET /v1/consent/quick');
  expect(rejected?.custom_content?.stages).toMatchObject([{ status: 'failed' }]);
  await accept(service, 'quick');
  const accepted = await sendChat();
  expect(accepted?.content).toContain('from the leaf');
  expect(accepted?.custom_content?.stages).toMatchObject([{ status: 'completed' }]);
  await deleteConsent(service, 'quick');
  expect((await sendChat())?.content).toContain('GET /v1/consent/quick');
});

it('a consent becomes outdated when a new deployment meets the conditions of the quick app', async () => {
  await accept(service, 'quick');
  const configuration = toConfiguration() as { applications: object };
  const moreApp = { endpoint: `${host.url}/more`, description: 'Sends mail.', features: createForm(true) };
  service.reload({ ...configuration, applications: { ...configuration.applications, more: moreApp } });
  expect(await isAccepted(service, 'quick')).toBe(false);
  expect(await getForm(service, 'quick')).toMatchObject({ more: createForm(true) });
});
