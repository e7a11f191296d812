import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import {
  buildOperations,
  calls,
  getMessage,
  getStages,
  getToolMessages,
  type Rig,
  says,
  startRig,
  startRigWith,
} from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => void response.end(`from ${received.path}`));
});

afterAll(() => api.close());

const schema = {
  type: 'object',
  properties: { degrees: { type: 'integer' } },
  required: ['degrees'],
  additionalProperties: false,
};
const response_format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } };
const start = (...replies: readonly Reply[]): Promise<Rig> => startRigWith(buildOperations(api, 'weather'), ...replies);

describe('a run with tools and a response_format', () => {
  it('returns only the structured answer, with earlier text in a stage', async () => {
    await using rig = await start(calls('I look it up.', ['weather', {}]), says('{"deg', 'rees":7}'));
    const response = await rig.chat('How warm?', { response_format });
    expect(getMessage(response).content).toBe('{"degrees":7}');
    expect(getStages(response)).toMatchObject([
      { name: 'Text before tool calls', content: 'I look it up.', status: 'completed' },
      { name: 'weather', status: 'completed' },
    ]);
    expect(rig.model.requests.map(({ body }) => body.response_format)).toEqual([response_format, response_format]);
  });

  it('calls its model once more without tools if the answer has another format', async () => {
    await using rig = await start(calls(['weather', {}]), says('It has 7 degrees.'), says('```json\n{"degrees":7}\n```'));
    const response = await rig.chat('How warm?', { response_format });
    expect(getMessage(response).content).toBe('{"degrees":7}');
    expect(response.completion.usage).toMatchObject({ prompt_tokens: 30 });
    expect(rig.offered()).toEqual([]);
    expect(rig.sent().slice(-2)).toEqual([
      { role: 'assistant', content: 'It has 7 degrees.' },
      { role: 'user', content: expect.stringContaining('Your previous answer is not valid: it is not JSON.') },
    ]);
    expect(getToolMessages(rig)).toEqual(['from /weather']);
  });

  it('fails if the second answer is also invalid, and can be resumed', async () => {
    await using rig = await start(calls(['weather', {}]), says('{"degrees":"7"}'));
    const { status, error } = await rig.chat('How warm?', { response_format });
    expect(status).toBe(500);
    expect(error.message).toBe('The answer of the model does not follow response_format: answer/degrees must be integer.');
    expect(error).toHaveProperty('custom_content.state');
    expect(rig.model.requests).toHaveLength(3);
  });

  it('streams the complete answer at the end', async () => {
    await using rig = await start(calls('Wait.', ['weather', {}]), says('{"degrees":', '7}'));
    const result = await (
      await rig.service.stream('app', { messages: [{ role: 'user', content: 'How warm?' }], response_format })
    ).readRest();
    expect(result.deltas().flatMap(({ content }) => content ?? [])).toEqual(['{"degrees":7}']);
  });

  it('returns any JSON object if no schema is configured', async () => {
    await using rig = await start(calls(['weather', {}]), says('[1]'), says('{"a":1}'));
    expect(getMessage(await rig.chat('How warm?', { response_format: { type: 'json_object' } })).content).toBe('{"a":1}');
  });

  it('returns the unchecked answer of the model if it has no tools', async () => {
    await using rig = await startRigWith({}, says('As it ', 'came.'));
    expect(getMessage(await rig.chat('How warm?', { response_format })).content).toBe('As it came.');
    expect(rig.model.requests).toHaveLength(1);
  });
});

it('a vendor that cannot combine a schema with tools receives it in a last request without tools', async () => {
  const gemini =
    (parts: readonly object[]): Reply =>
    ({ response }) => {
      const body = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(body)}\r\n\r\n`);
    };
  await using rig = await startRig({
    app: buildOperations(api, 'weather'),
    replies: [
      gemini([{ functionCall: { name: 'weather', args: {} } }]),
      gemini([{ text: '7 degrees' }]),
      gemini([{ text: '{"degrees":7}' }]),
    ],
    model: (endpoint) => ({ upstreams: [{ protocol: 'gemini', endpoint, key: 'k' }] }),
  });
  expect(getMessage(await rig.chat('How warm?', { response_format })).content).toBe('{"degrees":7}');
  const bodies = rig.model.requests.map(
    ({ body }) => body as { tools?: unknown; generationConfig?: { responseMimeType?: string } },
  );
  expect(bodies.map(({ tools }) => tools !== undefined)).toEqual([true, true, false]);
  expect(bodies.map(({ generationConfig }) => generationConfig?.responseMimeType)).toEqual([
    undefined,
    undefined,
    'application/json',
  ]);
});
