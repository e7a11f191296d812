import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { buildOperations, calls, getMessage, getStages, type Rig, says, startRigWith, user } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
});

beforeEach(() => api.script(({ received, response }) => void response.end(`from ${received.path}`)));

afterAll(() => api.close());

const rejection: Reply = errorReply(400);
const request = [user('Do both.')];
const twoTools: readonly Reply[] = [calls('First.', ['one', {}]), calls(['two', {}])];
const startWithTools = (...replies: readonly Reply[]): Promise<Rig> =>
  startRigWith(buildOperations(api, 'one', 'two'), ...replies);

const createFailedMessage = (state: unknown): object => ({ role: 'assistant', content: 'First.', custom_content: { state } });
const sendFailing = (rig: Rig, messages: readonly object[] = request): Promise<TestResponse> =>
  rig.service.sendRequest({ path: getChatPath('app'), headers: withKey(), body: { messages } });
const getState = ({ error }: TestResponse): unknown =>
  (error as unknown as { custom_content: { state: unknown } }).custom_content.state;

describe('a run that fails after tool calls', () => {
  it('continues after these calls if its message is sent back, and does not repeat them', async () => {
    await using rig = await startWithTools(...twoTools, rejection, says('Done.'));
    const before = api.requests.length;
    const failed = await sendFailing(rig);
    expect(failed.status).toBe(400);
    const resumed = await rig.chat([...request, createFailedMessage(getState(failed))]);
    expect(getMessage(resumed).content).toBe('Done.');
    expect(getStages(resumed)).toEqual([]);
    expect(api.requests.length - before).toBe(2);
    expect(rig.sent().map(({ role, content }) => [role, content])).toEqual([
      ...[
        ['system', 'Be kind.'],
        ['user', 'Do both.'],
      ],
      ...[
        ['assistant', 'First.'],
        ['tool', 'from /one'],
        ['assistant', null],
        ['tool', 'from /two'],
      ],
    ]);
  });

  it('sends its state before and inside the error, with its usage', async () => {
    await using rig = await startWithTools(...twoTools, rejection);
    const result = await (await rig.service.stream('app', { messages: request })).readRest();
    const states = result.deltas().flatMap(({ custom_content: custom }) => custom?.state ?? []);
    expect(states).toHaveLength(1);
    expect(result.error).toMatchObject({
      custom_content: { state: states[0] },
      usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
      statistics: { usage_per_model: [{ model: 'model', prompt_tokens: 20 }] },
    });
  });

  it('retains its results if it fails again', async () => {
    await using rig = await startWithTools(...twoTools, rejection, rejection, says('Done.'));
    const first = await sendFailing(rig);
    const second = await sendFailing(rig, [...request, createFailedMessage(getState(first))]);
    const before = api.requests.length;
    expect(getMessage(await rig.chat([...request, createFailedMessage(getState(second))])).content).toBe('Done.');
    expect(api.requests.length).toBe(before);
  });

  it('sends the model its results if the user continues with another message', async () => {
    await using rig = await startWithTools(...twoTools, rejection, says('Fine.'));
    const failed = await sendFailing(rig);
    await rig.chat([...request, createFailedMessage(getState(failed)), user('Never mind.')]);
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'user']);
  });

  it('starts again if its state is not sent back', async () => {
    await using rig = await startWithTools(...twoTools, rejection, calls(['one', {}]), says('Done.'));
    await sendFailing(rig);
    const before = api.requests.length;
    expect(getMessage(await rig.chat(request)).content).toBe('Done.');
    expect(api.requests.length - before).toBe(1);
  });

  it('counts the turns before the failure toward the limit', async () => {
    await using rig = await startWithTools(
      ...twoTools,
      rejection,
      ...Array.from({ length: 13 }, () => calls(['one', {}])),
      says('Enough.'),
    );
    const failed = await sendFailing(rig);
    const response = await rig.chat([...request, createFailedMessage(getState(failed))]);
    expect(rig.model.requests).toHaveLength(3 + 13);
    expect(getStages(response)).toHaveLength(12);
  });
});

it('a run that fails before any tool call has no state', async () => {
  await using rig = await startWithTools(rejection, jsonReply({}));
  expect((await sendFailing(rig)).error).not.toHaveProperty('custom_content');
});
