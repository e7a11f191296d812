import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { withKey } from '#test/start-service.ts';
import { buildOperations, calls, getMessage, getStages, says, startRigWith, user } from './support.ts';

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

const getOwnTools = (): object => buildOperations(api, 'own');
const getCallNames = (message: object): string[] | undefined =>
  (message as { tool_calls?: { function: { name: string } }[] }).tool_calls?.map((call) => call.function.name);

describe('tools of the client', () => {
  it('are offered to the model in addition to the tools of the application', async () => {
    await using rig = await startRigWith(getOwnTools(), says('Hello.'));
    await rig.chat('Hello', { tools, parallel_tool_calls: false });
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['look_up', 'book', 'own']);
    expect(rig.model.requests[0]?.body.parallel_tool_calls).toBe(false);
  });

  it('are returned as tool calls, all calls of a turn in one reply, and the run continues with their results', async () => {
    const batch = calls('Let me see.', ['look_up', { q: 1 }], ['book', { seat: 2 }]);
    await using rig = await startRigWith(getOwnTools(), batch, says('Booked.'));
    const question = [user('Book a seat.')];
    const stopped = await rig.chat(question, { tools });
    expect(stopped.completion.choices[0]?.finish_reason).toBe('tool_calls');
    expect(getMessage(stopped).content).toBe('Let me see.');
    expect(getMessage(stopped)).not.toHaveProperty('function_call');
    expect(getCallNames(getMessage(stopped))).toEqual(['look_up', 'book']);
    const messages = [...question, getMessage(stopped), result('call_1', 'Done.'), result('call_0', 'Free.')];
    expect(getMessage(await rig.chat(messages, { tools })).content).toBe('Booked.');
    expect(rig.sent().slice(-2)).toEqual([result('call_0', 'Free.'), result('call_1', 'Done.')]);
  });

  it('are returned after the tools of the application ran, whose results are retained', async () => {
    await using rig = await startRigWith(getOwnTools(), calls(['own', {}], ['book', {}]), says('Booked.'));
    const question = [user('Book a seat.')];
    const stopped = await rig.chat(question, { tools });
    expect(getStages(stopped).map(({ name, status }) => [name, status])).toEqual([['own', 'completed']]);
    expect(getCallNames(getMessage(stopped))).toEqual(['book']);
    await rig.chat([...question, getMessage(stopped), result('call_1', 'Done.')], { tools });
    expect(rig.sent().slice(-2)).toEqual([result('call_0', 'from /own'), result('call_1', 'Done.')]);
  });

  it('work for a client that sends back the calls without the state', async () => {
    await using rig = await startRigWith(getOwnTools(), calls(['book', {}]), says('Booked.'));
    const question = [user('Book a seat.')];
    const { custom_content: _custom, ...message } = getMessage(await rig.chat(question, { tools }));
    const response = await rig.chat([...question, message, result('call_0', 'Done.')], { tools });
    expect(getMessage(response).content).toBe('Booked.');
    expect(rig.sent().slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_0' }] },
      result('call_0', 'Done.'),
    ]);
  });

  it('are streamed as one delta per call, then the state, then the end', async () => {
    await using rig = await startRigWith({}, calls(['look_up', { q: 1 }], ['book', {}]));
    const streamResult = await (await rig.service.stream('app', { messages: [user('Go.')], tools })).readRest();
    const deltas = streamResult.deltas();
    expect(deltas.filter((delta) => getCallNames(delta) !== undefined).map(getCallNames)).toEqual([['look_up'], ['book']]);
    expect(deltas.filter(({ custom_content: custom }) => custom?.state)).toHaveLength(1);
    expect(streamResult.chunks.flatMap(({ choices: [choice] }) => choice?.finish_reason ?? [])).toEqual(['tool_calls']);
  });

  it('are returned as tool calls together with client tools of the application', async () => {
    await using rig = await startRigWith(clientTool, calls(['ring', {}], ['book', {}]));
    const stopped = await rig.chat('Ring, and book.', { tools: [...tools, tool('ring')] });
    expect(getCallNames(getMessage(stopped))).toEqual(['ring', 'book']);
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['ring', 'look_up', 'book']);
  });

  it.each([['required'], [{ type: 'function', function: { name: 'book' } }]])(
    'can be forced with the tool_choice %j in the first turn only',
    async (tool_choice) => {
      await using rig = await startRigWith(getOwnTools(), calls(['own', {}]), says('Hello.'));
      await rig.chat('Hello', { tools, tool_choice });
      expect(rig.model.requests.map(({ body }) => body.tool_choice)).toEqual([tool_choice, undefined]);
    },
  );

  it('are not offered with the tool_choice none', async () => {
    await using rig = await startRigWith(getOwnTools(), says('Hello.'));
    await rig.chat('Hello', { tools, tool_choice: 'none' });
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual(['own']);
    expect(rig.model.requests[0]?.body).not.toHaveProperty('tool_choice');
  });
});

describe('results of tools of the client', () => {
  it('are rejected with their path if no call requested them', async () => {
    await using rig = await startRigWith({}, calls(['book', {}]));
    const question = [user('Book a seat.')];
    const stopped = getMessage(await rig.chat(question, { tools }));
    for (const results of [[result('call_9', '')], [result('call_0', 'Done.'), result('call_0', 'Again.')]]) {
      const rejected = await rig.service.sendRequest({
        path: '/openai/deployments/app/chat/completions',
        headers: withKey(),
        body: { messages: [...question, stopped, ...results], tools },
      });
      expect([rejected.status, rejected.error.param]).toEqual([400, `messages[${1 + results.length}].tool_call_id`]);
    }
  });

  it('are requested again if some are missing, without another model call', async () => {
    await using rig = await startRigWith({}, calls(['look_up', {}], ['book', {}]), says('Booked.'));
    const question = [user('Book a seat.')];
    const stopped = getMessage(await rig.chat(question, { tools }));
    const repeated = getMessage(await rig.chat([...question, stopped, result('call_0', 'Free.')], { tools }));
    expect([getCallNames(repeated), rig.model.requests.length]).toEqual([['book'], 1]);
  });
});
