import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jsonReply, type Reply, refusal, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { chatPath, withKey } from '#test/start-service.ts';
import { calls, messageOf, operationsOf, type Rig, rigOf, says, stagesOf, user } from './support.ts';

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
});

beforeEach(() => api.script(({ received, response }) => void response.end(`from ${received.path}`)));

afterAll(() => api.close());

const broken: Reply = refusal(400);
const asked = [user('Do both.')];
const twoTools: readonly Reply[] = [calls('First.', ['one', {}]), calls(['two', {}])];
const withTools = (...replies: readonly Reply[]): Promise<Rig> => rigOf(operationsOf(api, 'one', 'two'), ...replies);

const failedMessage = (state: unknown): object => ({ role: 'assistant', content: 'First.', custom_content: { state } });
const fail = (rig: Rig, messages: readonly object[] = asked): Promise<TestResponse> =>
  rig.service.sendRequest({ path: chatPath('app'), headers: withKey(), body: { messages } });
const stateOf = ({ error }: TestResponse): unknown =>
  (error as unknown as { custom_content: { state: unknown } }).custom_content.state;

describe('a run that fails behind tools that ran', () => {
  it('goes on behind them when its message is sent back, and runs none of them again', async () => {
    await using rig = await withTools(...twoTools, broken, says('Done.'));
    const before = api.requests.length;
    const failed = await fail(rig);
    expect(failed.status).toBe(400);
    const resumed = await rig.chat([...asked, failedMessage(stateOf(failed))]);
    expect(messageOf(resumed).content).toBe('Done.');
    expect(stagesOf(resumed)).toEqual([]);
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

  it('tells the state before its error and with it, and what was used', async () => {
    await using rig = await withTools(...twoTools, broken);
    const streamed = await (await rig.service.stream('app', { messages: asked })).readRest();
    const states = streamed.deltas().flatMap(({ custom_content: custom }) => custom?.state ?? []);
    expect(states).toHaveLength(1);
    expect(streamed.error).toMatchObject({
      custom_content: { state: states[0] },
      usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
      statistics: { usage_per_model: [{ model: 'model', prompt_tokens: 20 }] },
    });
  });

  it('that fails once more loses nothing', async () => {
    await using rig = await withTools(...twoTools, broken, broken, says('Done.'));
    const first = await fail(rig);
    const second = await fail(rig, [...asked, failedMessage(stateOf(first))]);
    const before = api.requests.length;
    expect(messageOf(await rig.chat([...asked, failedMessage(stateOf(second))])).content).toBe('Done.');
    expect(api.requests.length).toBe(before);
  });

  it('is told to the model where the user goes on with something else', async () => {
    await using rig = await withTools(...twoTools, broken, says('Fine.'));
    const failed = await fail(rig);
    await rig.chat([...asked, failedMessage(stateOf(failed)), user('Never mind.')]);
    expect(rig.sent().map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'user']);
  });

  it('begins anew where its state is not sent back', async () => {
    await using rig = await withTools(...twoTools, broken, calls(['one', {}]), says('Done.'));
    await fail(rig);
    const before = api.requests.length;
    expect(messageOf(await rig.chat(asked)).content).toBe('Done.');
    expect(api.requests.length - before).toBe(1);
  });

  it('counts the turns that it had', async () => {
    await using rig = await withTools(
      ...twoTools,
      broken,
      ...Array.from({ length: 13 }, () => calls(['one', {}])),
      says('Enough.'),
    );
    const failed = await fail(rig);
    const answered = await rig.chat([...asked, failedMessage(stateOf(failed))]);
    expect(rig.model.requests).toHaveLength(3 + 13);
    expect(stagesOf(answered)).toHaveLength(12);
  });
});

it('a run that fails before any tool ran has no state', async () => {
  await using rig = await withTools(broken, jsonReply({}));
  expect((await fail(rig)).error).not.toHaveProperty('custom_content');
});
