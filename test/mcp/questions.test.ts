import { type InputRequiredSpec, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { echo, type ServedTool, startStateless, text } from './servers.ts';
import {
  type AppUnderTest,
  answer,
  ask,
  callsTools,
  choiceOf,
  decline,
  given,
  messagesOf,
  says,
  startApp,
  toolTexts,
} from './support.ts';

const schema = {
  type: 'object' as const,
  properties: { date: { type: 'string' as const, format: 'date' as const } },
  required: ['date'],
};

/** Books once it knows the date; what it was told by then travels in its state. */
const book: ServedTool = {
  name: 'book',
  run({ city }, { mcpReq }) {
    const answers = mcpReq.inputResponses as Record<string, { action: string; content?: { date?: string } }> | undefined;
    if (answers?.date === undefined)
      return asking({ date: inputRequired.elicit({ message: `When to ${city}?`, requestedSchema: schema }) });
    return text(`${answers.date.action} ${answers.date.content?.date ?? ''} ${mcpReq.requestState<string>()}`.replace('  ', ' '));
  },
};

function asking(inputRequests: NonNullable<InputRequiredSpec['inputRequests']>) {
  return inputRequired({ inputRequests, requestState: 'kept' });
}

const date = given({ date: '2026-12-24' });

async function startBooking(...more: readonly ServedTool[]): Promise<AppUnderTest> {
  const server = await startStateless([book, echo, ...more]);
  return startApp({ url: server.url }, [callsTools(['book', { city: 'Oslo' }]), says('Booked.')]);
}

describe('a question of a server', () => {
  it('is put to the user as a control with its schema and one to decline, and stops the run', async () => {
    const { service, model } = await startBooking();
    const { message, finish_reason } = choiceOf(await service.chat('app', ask));
    expect(finish_reason).toBe('stop');
    expect(message.content).toBe('**Tools** asks: When to Oslo?');
    expect(message.custom_content.controls).toEqual([
      { index: 0, label: 'Answer Tools', schema },
      { index: 1, label: 'Decline' },
    ]);
    expect(message.custom_content.stages).toMatchObject([{ name: 'book', status: 'completed' }]);
    expect(model.requests).toHaveLength(1);
  });

  it('lets the same call go on with the answer, and the run with the same messages to the model', async () => {
    const { service, model } = await startBooking();
    const asked = await service.chat('app', ask);
    const { message, finish_reason } = choiceOf(await answer(service, [asked], [date]));
    expect([message.content, finish_reason]).toEqual(['Booked.', 'stop']);
    expect(message.custom_content.stages).toMatchObject([{ name: 'book', status: 'completed' }]);
    expect(toolTexts(model)).toEqual(['accept 2026-12-24 kept']);
    expect(messagesOf(model, 1)).toEqual([
      ...messagesOf(model, 0),
      expect.objectContaining({ role: 'assistant' }),
      expect.objectContaining({ role: 'tool' }),
    ]);
  });

  it('lets it go on where the user declined', async () => {
    const { service, model } = await startBooking();
    await answer(service, [await service.chat('app', ask)], [decline]);
    expect(toolTexts(model)).toEqual(['decline kept']);
  });

  it.each([
    ['a control that was not offered', { label: 'Pay', value: {} }],
    ['a value that does not follow the schema', { label: 'Answer Tools', value: { date: 'tomorrow' } }],
    ['no value', { label: 'Answer Tools' }],
  ])('refuses %s', async (_what, control) => {
    const { service } = await startBooking();
    const refused = await answer(service, [await service.chat('app', ask)], [control]);
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'control_not_offered' } } });
  });

  it('refuses a state that was changed', async () => {
    const { service } = await startBooking();
    const reply = await service.chat('app', ask);
    const changed = JSON.parse(JSON.stringify(reply), (key, value) => (key === 'parley_run' ? value.replace(/^./, 'A') : value));
    expect(await answer(service, [changed], [date])).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } });
  });

  it('may be left unanswered: the model is told that the tool was not run', async () => {
    const { service, model } = await startBooking();
    const asked = choiceOf(await service.chat('app', ask)).message;
    await service.chat('app', { messages: [...ask.messages, asked, { role: 'user', content: 'Never mind.' }] });
    expect(toolTexts(model)).toEqual(['The tool was not run: the user went on without it.']);
    expect(messagesOf(model, 1).at(-1)).toMatchObject({ role: 'user', content: 'Never mind.' });
  });

  it('is remembered in a run that ended', async () => {
    const { service, model } = await startBooking();
    const asked = await service.chat('app', ask);
    const booked = await answer(service, [asked], [date]);
    const control = { role: 'user', custom_content: { completed_control: date } };
    const turns = [choiceOf(asked).message, control, choiceOf(booked).message, { role: 'user', content: 'And back?' }];
    await service.chat('app', { messages: [...ask.messages, ...turns] });
    expect(messagesOf(model, 2).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('comes in a stream as content, controls, state and the end, in this order', async () => {
    const { service } = await startBooking();
    const stream = await service.stream('app', ask);
    const { chunks } = await stream.readRest();
    const kinds = chunks
      .flatMap(({ choices }) => choices)
      .map(({ delta, finish_reason }) => finish_reason ?? Object.keys({ ...delta, ...delta.custom_content }).at(-1));
    expect(kinds.slice(-4)).toEqual(['content', 'controls', 'state', 'stop']);
  });
});

describe('several questions', () => {
  const both: ServedTool = {
    name: 'both',
    run(_args, { mcpReq }) {
      const one = inputRequired.elicit({
        message: 'One?',
        requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
      });
      const two = inputRequired.elicit({
        message: 'Two?',
        requestedSchema: { type: 'object', properties: { b: { type: 'number' } } },
      });
      return mcpReq.inputResponses === undefined ? asking({ one, two }) : text(JSON.stringify(mcpReq.inputResponses));
    },
  };
  it('of one call are asked one a reply and answered to the server together', async () => {
    const server = await startStateless([both]);
    const { service, model } = await startApp({ url: server.url }, [callsTools(['both']), says('done')]);
    const one = await service.chat('app', ask);
    const controls = [given({ a: 'x' }), decline];
    const two = await answer(service, [one], controls);
    expect(choiceOf(two).message.content).toBe('**Tools** asks: Two?');
    expect(choiceOf(await answer(service, [one, two], controls)).message.content).toBe('done');
    expect(toolTexts(model)).toEqual([
      JSON.stringify({ one: { action: 'accept', content: { a: 'x' } }, two: { action: 'decline' } }),
    ]);
    expect(server.asked('tools/call')).toHaveLength(2);
  });

  it('of several calls are asked one after another, beside results that are there already', async () => {
    const server = await startStateless([book, echo]);
    const calls = callsTools(['book', { city: 'Oslo' }], ['echo', { text: 'hi' }], ['book', { city: 'Rome' }]);
    const { service, model } = await startApp({ url: server.url }, [calls, says('done')]);
    const one = await service.chat('app', ask);
    const two = await answer(service, [one], [date]);
    expect(choiceOf(two).message.content).toBe('**Tools** asks: When to Rome?');
    await answer(service, [one, two], [date, decline]);
    expect(toolTexts(model)).toEqual(['accept 2026-12-24 kept', 'echo hi', 'decline kept']);
  });

  it('go before the calls of the caller’s own tools in the same turn', async () => {
    const server = await startStateless([book]);
    const client = { name: 'locate', description: 'Where the user is.', parameters: [] };
    const calls = callsTools(['locate'], ['book', { city: 'Oslo' }]);
    const { service, model } = await startApp({ url: server.url }, [calls, says('done')], {
      properties: { client_toolset: [client] },
    });
    const asked = await service.chat('app', ask);
    const handed = choiceOf(await answer(service, [asked], [date]));
    expect(handed).toMatchObject({ finish_reason: 'function_call', message: { function_call: { name: 'locate' } } });
    const given = { role: 'function', name: 'locate', content: 'Bergen' };
    const control = { role: 'user', custom_content: { completed_control: date } };
    await service.chat('app', { messages: [...ask.messages, choiceOf(asked).message, control, handed.message, given] });
    expect(toolTexts(model)).toEqual(['Bergen', 'accept 2026-12-24 kept']);
    expect(model.requests).toHaveLength(2);
  });

  it('are asked again as often as the server asks', async () => {
    const twice: ServedTool = {
      name: 'twice',
      run: (_args, { mcpReq }) => {
        const next = `${mcpReq.requestState<string>() ?? ''}.`;
        const question = inputRequired.elicit({ message: `Sure${next}`, requestedSchema: { type: 'object', properties: {} } });
        return next === '...' ? text('done') : inputRequired({ inputRequests: { question }, requestState: next });
      },
    };
    const server = await startStateless([twice]);
    const { service, model } = await startApp({ url: server.url }, [callsTools(['twice']), says('done')]);
    const one = await service.chat('app', ask);
    const two = await answer(service, [one], [given({})]);
    expect([choiceOf(one).message.content, choiceOf(two).message.content]).toEqual([
      '**Tools** asks: Sure.',
      '**Tools** asks: Sure..',
    ]);
    await answer(service, [one, two], [given({}), given({})]);
    expect(toolTexts(model)).toEqual(['done']);
  });
});

describe('what is no question for the user', () => {
  const tool = (run: (context: ServerContext) => ReturnType<ServedTool['run']>): ServedTool => ({
    name: 'tool',
    run: (_args, context) => run(context),
  });

  it('is told to the model: the server wants its client’s model', async () => {
    const sampling = tool(() => asking({ it: inputRequired.createMessage({ messages: [], maxTokens: 1 }) }));
    const server = await startStateless([sampling]);
    const { service, model } = await startApp({ url: server.url }, [callsTools(['tool']), says('done')]);
    await service.chat('app', ask);
    expect(toolTexts(model)).toEqual([expect.stringContaining('capabilities do not declare')]);
  });

  it('is done at once: the server wants to be called again with its state', async () => {
    const again = tool(({ mcpReq }) =>
      mcpReq.requestState<string>() === 'kept' ? text('done') : inputRequired({ requestState: 'kept' }),
    );
    const server = await startStateless([again]);
    const { service, model } = await startApp({ url: server.url }, [callsTools(['tool']), says('done')]);
    await service.chat('app', ask);
    expect(toolTexts(model)).toEqual(['done']);
  });
});
