import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import {
  errorReply,
  eventsReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
  toEvent,
} from '#test/scripted-upstream.ts';
import {
  buildOperations,
  calls,
  getMessage,
  getStages,
  getTrace,
  type Rig,
  type SentMessage,
  says,
  startRig,
  user,
} from './support.ts';

let api: ScriptedUpstream;

/** Replies with 40 kB that differ for each path. */
beforeAll(async () => {
  api = await startScriptedUpstream(({ received, response }) => {
    const line = `${received.path} tells of many things. `;
    response.setHeader('content-type', 'text/plain');
    response.end(line.repeat(40_000 / line.length));
  });
});

afterAll(() => api.close());

const names = ['one', 'two', 'three', 'four', 'five', 'six'];
const getRequestSizes = (rig: Rig): number[] => rig.model.requests.map(({ text: body }) => Buffer.byteLength(body));

interface Settings {
  readonly app?: object;
  readonly limits?: object;
  readonly configuration?: Record<string, unknown>;
}

function start(replies: readonly Reply[], { app = {}, limits, configuration = {} }: Settings): Promise<Rig> {
  return startRig({
    app: { ...buildOperations(api, ...names), ...app },
    replies,
    model: (endpoint) => ({ upstreams: [{ endpoint }], ...(limits && { limits }) }),
    configuration: { keys: { 'caller-key': { project: 'test', role: 'admin' } }, ...configuration },
    options: { files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() } },
  });
}

const smallModel = { maxPromptTokens: 6_000 };
const createSixCalls = (): Reply[] => [...names.map((name) => calls([name, {}])), says('Done.')];
const listCleared = (messages: readonly SentMessage[]): boolean[] =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [content?.includes('was cleared to make room') === true] : []));
/** Returns how many messages at the start of both lists are equal. */
const countShared = (first: readonly unknown[], second: readonly unknown[]): number => {
  const differs = first.findIndex((message, index) => JSON.stringify(message) !== JSON.stringify(second[index]));
  return differs === -1 ? first.length : differs;
};

describe('a run with long results', () => {
  it('does not exceed the context window of its model', async () => {
    await using rig = await start(createSixCalls(), { limits: smallModel });
    const response = await rig.chat('Read all.');
    expect(getMessage(response).content).toBe('Done.');
    expect(Math.max(...getRequestSizes(rig))).toBeLessThan(6_000 * 3.5);
    expect(listCleared(rig.sent()).slice(0, 2)).toEqual([true, true]);
    expect(listCleared(rig.sent()).at(-1)).toBe(false);
    expect(rig.sent().find(({ role }) => role === 'tool')?.content).toMatch(
      /^\[The result of one, \d+ bytes, was cleared to make room\. read_result with id "r_[0-9a-f]{10}" reads it again\.\]$/,
    );
    expect(rig.offered().map(({ function: { name } }) => name)).toEqual([...names, 'read_result']);
  });

  it('extends the previous prompt, except in a few turns that clear many results', async () => {
    await using rig = await start(createSixCalls(), { limits: { maxPromptTokens: 30_000 } });
    await rig.chat('Read all.');
    const turns = rig.model.requests.map(({ body }) => body.messages as SentMessage[]);
    const changedTurns = turns
      .slice(1)
      .filter((turn, index) => countShared(turns[index] ?? [], turn) < (turns[index]?.length ?? 0));
    expect(changedTurns).toHaveLength(2);
    expect(listCleared(turns.at(-1) ?? [])).toContain(false);
  });

  it('is sent completely with the strategy off, or if the context window is large', async () => {
    for (const settings of [
      { limits: smallModel, app: { context: { strategy: 'off' } } },
      { limits: { maxPromptTokens: 200_000 } },
      {},
    ]) {
      await using rig = await start(createSixCalls(), settings);
      expect(getStages(await rig.chat('Read all.'))).toHaveLength(6);
      expect(listCleared(rig.sent())).toEqual(names.map(() => false));
      expect(getRequestSizes(rig).at(-1)).toBeGreaterThan(230_000);
      expect(rig.offered()).toHaveLength(6);
    }
  });

  it('reports it in a stage, and in the trace for users who may edit the application', async () => {
    await using rig = await start(createSixCalls(), { limits: smallModel });
    const response = await rig.chat('Read all.', {}, { 'x-parley-trace': 'true' });
    const stages = getStages(response).filter(({ name }) => name === 'Conversation shortened');
    expect(stages[0]).toMatchObject({
      status: 'completed',
      content: expect.stringContaining('The maximum is 5400.'),
    });
    const trace = getTrace(response).filter(({ kind }) => kind === 'context');
    expect(trace).toHaveLength(stages.length);
    expect(JSON.parse(trace[0]?.sent ?? '')).toMatchObject({ most: 5400, refused: false });
    expect(JSON.parse(trace[0]?.received ?? '')).toMatchObject({ cleared_results: expect.any(Number), summarized_messages: 0 });
  });

  it('can read cleared results again, also in the next run of the conversation', async () => {
    const readAgain = (): Reply => async (exchange) => {
      const { messages } = exchange.received.body as { messages: SentMessage[] };
      const [, id] = /read_result with id "(r_\w+)"/.exec(messages.find(({ role }) => role === 'tool')?.content ?? '') ?? [];
      await calls(['read_result', { id, search: 'one tells' }])(exchange);
    };
    await using rig = await start([...createSixCalls().slice(0, 6), readAgain(), says('Done.'), readAgain(), says('Read.')], {
      limits: smallModel,
    });
    const reply = getMessage(await rig.chat('Read all.'));
    expect(rig.sent().at(-1)?.content).toMatch(/^Offset 0: …\/one tells of many things/);
    const before = api.requests.length;
    await rig.chat([user('Read all.'), reply, user('Once more.')]);
    expect(rig.sent().at(-1)?.content).toMatch(/^Offset 0: …\/one tells of many things/);
    expect(api.requests.length).toBe(before);
  });
});

describe('a conversation with long results', () => {
  it('extends the previous prompt in most runs, and does not exceed the context window', async () => {
    const replies = names.flatMap((name) => [calls([name, {}]), says(`Read ${name}.`)]);
    await using rig = await start(replies, { limits: { maxPromptTokens: 30_000 } });
    const messages: object[] = [];
    for (const name of names) {
      messages.push(user(`Read ${name}.`));
      messages.push(getMessage(await rig.chat(messages)));
    }
    const turns = rig.model.requests.map(({ body }) => body.messages as SentMessage[]);
    const changedTurns = turns
      .slice(1)
      .filter((turn, index) => countShared(turns[index] ?? [], turn) < (turns[index]?.length ?? 0));
    expect(changedTurns).toHaveLength(3);
    expect(Math.max(...getRequestSizes(rig))).toBeLessThan(30_000 * 4);
  });
});

describe('a conversation that exceeds the context window', () => {
  const repeatText = (fruit: string): string =>
    `${fruit} is told at length. `.repeat(fruit === 'Apples' || fruit === 'Grapes' ? 265 : 24);
  const talk = ['Apples', 'Pears', 'Plums', 'Cherries'].flatMap((fruit) => [
    user(repeatText(fruit)),
    { role: 'assistant', content: repeatText(fruit) },
  ]);
  const conversation = [...talk, user('And now?')];

  it('has its oldest messages summarized once by its model', async () => {
    await using rig = await start([says('Fruit was told of.'), says('Well.'), says('Better.')], { limits: smallModel });
    const response = await rig.chat(conversation);
    expect(rig.model.requests).toHaveLength(2);
    expect(rig.sent(0)[1]?.content).toContain('user: Apples is told at length.');
    expect(
      rig
        .sent(1)
        .map(({ role }) => role)
        .slice(0, 2),
    ).toEqual(['system', 'user']);
    expect(rig.sent(1)[1]?.content).toBe(
      '[Summary of the earlier conversation, which was too long to be sent whole:]\n\nFruit was told of.',
    );
    expect(rig.sent(1).at(-1)?.content).toBe('And now?');
    expect(getStages(response)[0]?.content).toContain('A summary replaces the oldest messages: ');
    expect(response.completion.usage?.prompt_tokens).toBe(20);
    await rig.chat([...conversation, getMessage(response), user('More.')]);
    expect(rig.model.requests).toHaveLength(3);
    expect(rig.sent(2).slice(0, rig.sent(1).length)).toEqual(rig.sent(1));
  });

  it('is summarized again if its summarized messages change', async () => {
    await using rig = await start([says('Of fruit.'), says('Well.'), says('Of other fruit.'), says('Well.')], {
      limits: smallModel,
    });
    const response = await rig.chat(conversation);
    await rig.chat([user(repeatText('Grapes')), ...conversation.slice(1), getMessage(response), user('More.')]);
    expect(rig.sent()[1]?.content).toContain('Of other fruit.');
  });

  it('is sent unchanged if the strategy only clears results', async () => {
    await using rig = await start([says('Well.')], { limits: smallModel, configuration: { context: { strategy: 'clear' } } });
    await rig.chat(conversation);
    expect(rig.sent()).toHaveLength(conversation.length + 1);
  });

  it('continues without a summary if the model returns none, and reports it in a stage', async () => {
    await using rig = await start([says(''), says('Well.')], { limits: smallModel });
    const response = await rig.chat(conversation);
    expect(getMessage(response).content).toBe('Well.');
    expect(getStages(response)).toMatchObject([{ status: 'failed', content: expect.stringContaining('returned no summary') }]);
  });
});

/** Returns a reply with the event stream of a Responses upstream: its start, its items, and its end. */
function responseEvents(type: string, response: { readonly output: readonly object[]; readonly [key: string]: unknown }): Reply {
  const opening = { id: 'resp_1', object: 'response', created_at: 1, model: 'x', status: 'in_progress', output: [] };
  const items = response.output.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item },
    ...('arguments' in item
      ? [
          {
            type: 'response.function_call_arguments.done',
            item_id: (item as { id?: string }).id,
            output_index,
            arguments: item.arguments,
          },
        ]
      : []),
    ...('content' in item ? [{ type: 'response.output_text.delta', output_index, content_index: 0, delta: 'Done.' }] : []),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const events = [{ type: 'response.created', response: opening }, ...items, { type, response: { ...opening, ...response } }];
  return ({ response: serverResponse }) => {
    serverResponse.writeHead(200, { 'content-type': 'text/event-stream' });
    serverResponse.end(
      events.map((event, index) => `event: ${event.type}\n${toEvent({ ...event, sequence_number: index })}`).join(''),
    );
  };
}

describe('a model that rejects a conversation as too long', () => {
  const tooLong = (): Reply =>
    errorReply(400, {}, { code: 'context_length_exceeded', message: 'Your messages resulted in 70000 tokens.' });

  it('receives a shorter request once', async () => {
    await using rig = await start([...names.slice(0, 3).map((name) => calls([name, {}])), tooLong(), says('Done.')], {});
    const response = await rig.chat('Read.');
    expect(getMessage(response).content).toBe('Done.');
    expect(listCleared(rig.sent(3))).toEqual([false, false, false]);
    expect(listCleared(rig.sent(4))).toEqual([true, true, false]);
    expect(rig.offered(4).at(-1)?.function.name).toBe('read_result');
  });

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'The input token count (50000) exceeds the maximum number of tokens allowed (32768).',
  ])('is recognized by the error message %s', async (message) => {
    await using rig = await start([calls(['one', {}]), calls(['two', {}]), errorReply(400, {}, { message }), says('Done.')], {});
    expect(getMessage(await rig.chat('Read.')).content).toBe('Done.');
  });

  it('receives a shorter request once if it reports the error with response.failed', async () => {
    const inResponse = (item: object): Reply => responseEvents('response.completed', { status: 'completed', output: [item] });
    const callTool = (name: string) =>
      inResponse({
        type: 'function_call',
        id: `fc_${name}`,
        call_id: `call_${name}`,
        name,
        arguments: '{}',
        status: 'completed',
      });
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' };
    const content = [{ type: 'output_text', text: 'Done.', annotations: [] }];
    const doneReply = inResponse({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content });
    const failed = responseEvents('response.failed', { status: 'failed', error, output: [] });
    await using rig = await startRig({
      app: buildOperations(api, ...names),
      replies: [...names.slice(0, 3).map(callTool), failed, doneReply],
      model: (endpoint) => ({ upstreams: [{ endpoint, api: 'responses' }] }),
    });
    expect(getMessage(await rig.chat('Read.')).content).toBe('Done.');
    const outputs = rig.model.requests
      .slice(3)
      .map(({ body }) =>
        (body.input as { type?: string; output?: string }[]).flatMap(({ type, output }) =>
          type === 'function_call_output' ? [String(output).includes('was cleared to make room')] : [],
        ),
      );
    expect(outputs).toEqual([
      [false, false, false],
      [true, true, false],
    ]);
  });

  it('receives no second request if no message can be shortened', async () => {
    await using rig = await start([tooLong()], {});
    expect((await rig.chat('Hi.')).status).toBe(400);
    expect(rig.model.requests).toHaveLength(1);
  });
});

it('the prompts of OpenAI models are counted with their tokenizer', async () => {
  // Control: for a model without a known tokenizer, the estimate exceeds the limit.
  const spaced = '{"a":"b"},'.repeat(2_500);
  const plainReply = eventsReply(delta({ role: 'assistant' }), text('Fine.'), finish());
  const model = (name: string) => (endpoint: string) => ({
    upstreams: [{ endpoint, model: name }],
    limits: { maxPromptTokens: 14_000 },
  });
  for (const [name, requests] of [
    ['gpt-4o', 1],
    ['unknown', 2],
  ] as const) {
    await using rig = await startRig({ app: {}, replies: [plainReply], model: model(name) });
    await rig.chat([user(spaced), { role: 'assistant', content: 'Yes.' }, user('And?')]);
    expect(rig.model.requests).toHaveLength(requests);
  }
});
