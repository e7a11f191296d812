import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { withKey } from '#test/start-service.ts';
import { calls, messageOf, operationsOf, rigOf, says, stagesOf, user } from './support.ts';

const tool = (name: string): object => ({ type: 'function', function: { name, parameters: { type: 'object' } } });
const tools = [tool('look_up'), tool('book')];
const result = (id: string, content: string): object => ({ role: 'tool', tool_call_id: id, content });
const clientTool = { client_toolset: [{ name: 'ring', description: 'Rings a bell.', parameters: [] }] };

let api: ScriptedUpstream;

beforeAll(async () => {
  api = await startScriptedUpstream();
  api.script(({ received, response }) => void response.end(`from ${received.path}`));
});

afterAll(() => api.close());

const withOwn = (): object => operationsOf(api, 'own');
const namesOf = (message: object): string[] | undefined =>
  (message as { tool_calls?: { function: { name: string } }[] }).tool_calls?.map((call) => call.function.name);

describe('tools of the caller', () => {
  it('are offered to the model beside those of the application', async () => {
    await using rig = await rigOf(withOwn(), says('Hello.'));
    await rig.chat('Hello', { tools, parallel_tool_calls: false });
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['look_up', 'book', 'own']);
    expect(rig.model.requests[0]?.body.parallel_tool_calls).toBe(false);
  });

  it('are handed out as tool calls, all of a batch at once, and the run goes on with their results', async () => {
    const batch = calls('Let me see.', ['look_up', { q: 1 }], ['book', { seat: 2 }]);
    await using rig = await rigOf(withOwn(), batch, says('Booked.'));
    const asked = [user('Book a seat.')];
    const stopped = await rig.chat(asked, { tools });
    expect(stopped.completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(messageOf(stopped).content).toBe('Let me see.');
    expect(messageOf(stopped)).not.toHaveProperty('function_call');
    expect(namesOf(messageOf(stopped))).toEqual(['look_up', 'book']);
    const messages = [...asked, messageOf(stopped), result('call_1', 'Done.'), result('call_0', 'Free.')];
    expect(messageOf(await rig.chat(messages, { tools })).content).toBe('Booked.');
    expect(rig.sent().slice(-2)).toEqual([result('call_0', 'Free.'), result('call_1', 'Done.')]);
  });

  it('are handed out after the application ran its own, whose results are not lost', async () => {
    await using rig = await rigOf(withOwn(), calls(['own', {}], ['book', {}]), says('Booked.'));
    const asked = [user('Book a seat.')];
    const stopped = await rig.chat(asked, { tools });
    expect(stagesOf(stopped).map(({ name, status }) => [name, status])).toEqual([['own', 'completed']]);
    expect(namesOf(messageOf(stopped))).toEqual(['book']);
    await rig.chat([...asked, messageOf(stopped), result('call_1', 'Done.')], { tools });
    expect(rig.sent().slice(-2)).toEqual([result('call_0', 'from /own'), result('call_1', 'Done.')]);
  });

  it('work for a client that sends back the calls and drops the state', async () => {
    await using rig = await rigOf(withOwn(), calls(['book', {}]), says('Booked.'));
    const asked = [user('Book a seat.')];
    const { custom_content: _custom, ...message } = messageOf(await rig.chat(asked, { tools }));
    const answered = await rig.chat([...asked, message, result('call_0', 'Done.')], { tools });
    expect(messageOf(answered).content).toBe('Booked.');
    expect(rig.sent().slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_0' }] },
      result('call_0', 'Done.'),
    ]);
  });

  it('stream whole: a delta for each call, the state, the end', async () => {
    await using rig = await rigOf({}, calls(['look_up', { q: 1 }], ['book', {}]));
    const streamed = await (await rig.service.stream('app', { messages: [user('Go.')], tools })).readRest();
    const deltas = streamed.deltas();
    expect(deltas.filter((delta) => namesOf(delta) !== undefined).map(namesOf)).toEqual([['look_up'], ['book']]);
    expect(deltas.filter(({ custom_content: custom }) => custom?.state)).toHaveLength(1);
    expect(streamed.chunks.flatMap(({ choices: [choice] }) => choice?.finish_reason ?? [])).toEqual(['tool_calls']);
  });

  it('share their form with the client tools of the application', async () => {
    await using rig = await rigOf(clientTool, calls(['ring', {}], ['book', {}]));
    const stopped = await rig.chat('Ring, and book.', { tools: [...tools, tool('ring')] });
    expect(namesOf(messageOf(stopped))).toEqual(['ring', 'book']);
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['ring', 'look_up', 'book']);
  });

  it.each([['required'], [{ type: 'function', function: { name: 'book' } }]])(
    'can be forced by %j, in the first turn alone',
    async (tool_choice) => {
      await using rig = await rigOf(withOwn(), calls(['own', {}]), says('Hello.'));
      await rig.chat('Hello', { tools, tool_choice });
      expect(rig.model.requests.map(({ body }) => body.tool_choice)).toEqual([tool_choice, undefined]);
    },
  );

  it('are not offered under `none`', async () => {
    await using rig = await rigOf(withOwn(), says('Hello.'));
    await rig.chat('Hello', { tools, tool_choice: 'none' });
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['own']);
    expect(rig.model.requests[0]?.body).not.toHaveProperty('tool_choice');
  });
});

describe('results of tools of the caller', () => {
  it('that nothing asked for are refused with their place', async () => {
    await using rig = await rigOf({}, calls(['book', {}]));
    const asked = [user('Book a seat.')];
    const stopped = messageOf(await rig.chat(asked, { tools }));
    for (const given of [[result('call_9', '')], [result('call_0', 'Done.'), result('call_0', 'Again.')]]) {
      const refused = await rig.service.sendRequest({
        path: '/openai/deployments/app/chat/completions',
        headers: withKey(),
        body: { messages: [...asked, stopped, ...given], tools },
      });
      expect([refused.status, refused.error.param]).toEqual([400, `messages[${1 + given.length}].tool_call_id`]);
    }
  });

  it('that are still missing are asked for once more, without asking the model', async () => {
    await using rig = await rigOf({}, calls(['look_up', {}], ['book', {}]), says('Booked.'));
    const asked = [user('Book a seat.')];
    const stopped = messageOf(await rig.chat(asked, { tools }));
    const again = messageOf(await rig.chat([...asked, stopped, result('call_0', 'Free.')], { tools }));
    expect([namesOf(again), rig.model.requests.length]).toEqual([['book'], 1]);
  });
});
