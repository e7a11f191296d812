import { type InputRequiredSpec, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { echo, type ServedTool, startStateless, text } from './servers.ts';
import {
  type AppUnderTest,
  answer,
  chatRequest,
  createAnswer,
  decline,
  getChoice,
  getMessages,
  getToolResults,
  startApp,
  textReply,
  toolCallReply,
} from './support.ts';

const schema = {
  type: 'object' as const,
  properties: { date: { type: 'string' as const, format: 'date' as const } },
  required: ['date'],
};

/** Asks for a date, then books. Its state travels in `requestState`. */
const book: ServedTool = {
  name: 'book',
  run({ city }, { mcpReq }) {
    const answers = mcpReq.inputResponses as Record<string, { action: string; content?: { date?: string } }> | undefined;
    if (answers?.date === undefined)
      return requestInput({ date: inputRequired.elicit({ message: `When to ${city}?`, requestedSchema: schema }) });
    return text(`${answers.date.action} ${answers.date.content?.date ?? ''} ${mcpReq.requestState<string>()}`.replace('  ', ' '));
  },
};

function requestInput(inputRequests: NonNullable<InputRequiredSpec['inputRequests']>) {
  return inputRequired({ inputRequests, requestState: 'kept' });
}

const date = createAnswer({ date: '2026-12-24' });

async function startBooking(...more: readonly ServedTool[]): Promise<AppUnderTest> {
  const server = await startStateless([book, echo, ...more]);
  return startApp({ url: server.url }, [toolCallReply(['book', { city: 'Oslo' }]), textReply('Booked.')]);
}

describe('a question of an MCP server', () => {
  it('stops the run and offers a control with its schema and a control to decline', async () => {
    const { service, model } = await startBooking();
    const { message, finish_reason } = getChoice(await service.chat('app', chatRequest));
    expect(finish_reason).toBe('stop');
    expect(message.content).toBe('**Tools** asks: When to Oslo?');
    expect(message.custom_content.controls).toEqual([
      { index: 0, label: 'Answer Tools', schema },
      { index: 1, label: 'Decline' },
    ]);
    expect(message.custom_content.stages).toMatchObject([{ name: 'book', status: 'completed' }]);
    expect(model.requests).toHaveLength(1);
  });

  it('continues the same call with the answer and the run with the same messages', async () => {
    const { service, model } = await startBooking();
    const questionReply = await service.chat('app', chatRequest);
    const { message, finish_reason } = getChoice(await answer(service, [questionReply], [date]));
    expect([message.content, finish_reason]).toEqual(['Booked.', 'stop']);
    expect(message.custom_content.stages).toMatchObject([{ name: 'book', status: 'completed' }]);
    expect(getToolResults(model)).toEqual(['accept 2026-12-24 kept']);
    expect(getMessages(model, 1)).toEqual([
      ...getMessages(model, 0),
      expect.objectContaining({ role: 'assistant' }),
      expect.objectContaining({ role: 'tool' }),
    ]);
  });

  it('continues the call if the user declines', async () => {
    const { service, model } = await startBooking();
    await answer(service, [await service.chat('app', chatRequest)], [decline]);
    expect(getToolResults(model)).toEqual(['decline kept']);
  });

  it.each([
    ['a control that was not offered', { label: 'Pay', value: {} }],
    ['a value that does not match the schema', { label: 'Answer Tools', value: { date: 'tomorrow' } }],
    ['no value', { label: 'Answer Tools' }],
  ])('rejects %s', async (_what, control) => {
    const { service } = await startBooking();
    const response = await answer(service, [await service.chat('app', chatRequest)], [control]);
    expect(response).toMatchObject({ status: 400, json: { error: { code: 'control_not_offered' } } });
  });

  it('rejects a modified state', async () => {
    const { service } = await startBooking();
    const reply = await service.chat('app', chatRequest);
    const changed = JSON.parse(JSON.stringify(reply), (key, value) => (key === 'parley_run' ? value.replace(/^./, 'A') : value));
    expect(await answer(service, [changed], [date])).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } });
  });

  it('reports to the model that the tool did not run if the user does not answer', async () => {
    const { service, model } = await startBooking();
    const questionMessage = getChoice(await service.chat('app', chatRequest)).message;
    await service.chat('app', { messages: [...chatRequest.messages, questionMessage, { role: 'user', content: 'Never mind.' }] });
    expect(getToolResults(model)).toEqual(['The tool was not run, because the user continued without it.']);
    expect(getMessages(model, 1).at(-1)).toMatchObject({ role: 'user', content: 'Never mind.' });
  });

  it('is kept in the history of a completed run', async () => {
    const { service, model } = await startBooking();
    const questionReply = await service.chat('app', chatRequest);
    const booked = await answer(service, [questionReply], [date]);
    const control = { role: 'user', custom_content: { completed_control: date } };
    const turns = [getChoice(questionReply).message, control, getChoice(booked).message, { role: 'user', content: 'And back?' }];
    await service.chat('app', { messages: [...chatRequest.messages, ...turns] });
    expect(getMessages(model, 2).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('streams content, controls, state, and the finish reason in this order', async () => {
    const { service } = await startBooking();
    const stream = await service.stream('app', chatRequest);
    const { chunks } = await stream.readRest();
    const kinds = chunks
      .flatMap(({ choices }) => choices)
      .map(({ delta, finish_reason }) => finish_reason ?? Object.keys({ ...delta, ...delta.custom_content }).at(-1));
    expect(kinds.slice(-4)).toEqual(['content', 'controls', 'state', 'stop']);
  });
});

describe('multiple questions of an MCP server', () => {
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
      return mcpReq.inputResponses === undefined ? requestInput({ one, two }) : text(JSON.stringify(mcpReq.inputResponses));
    },
  };
  it('appear in separate replies and are answered together if they come from one call', async () => {
    const server = await startStateless([both]);
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['both']), textReply('done')]);
    const one = await service.chat('app', chatRequest);
    const controls = [createAnswer({ a: 'x' }), decline];
    const two = await answer(service, [one], controls);
    expect(getChoice(two).message.content).toBe('**Tools** asks: Two?');
    expect(getChoice(await answer(service, [one, two], controls)).message.content).toBe('done');
    expect(getToolResults(model)).toEqual([
      JSON.stringify({ one: { action: 'accept', content: { a: 'x' } }, two: { action: 'decline' } }),
    ]);
    expect(server.asked('tools/call')).toHaveLength(2);
  });

  it('appear one after another, with finished results retained, if they come from multiple calls', async () => {
    const server = await startStateless([book, echo]);
    const calls = toolCallReply(['book', { city: 'Oslo' }], ['echo', { text: 'hi' }], ['book', { city: 'Rome' }]);
    const { service, model } = await startApp({ url: server.url }, [calls, textReply('done')]);
    const one = await service.chat('app', chatRequest);
    const two = await answer(service, [one], [date]);
    expect(getChoice(two).message.content).toBe('**Tools** asks: When to Rome?');
    await answer(service, [one, two], [date, decline]);
    expect(getToolResults(model)).toEqual(['accept 2026-12-24 kept', 'echo hi', 'decline kept']);
  });

  it('come before calls of client tools in the same turn', async () => {
    const server = await startStateless([book]);
    const client = { name: 'locate', description: 'Where the user is.', parameters: [] };
    const calls = toolCallReply(['locate'], ['book', { city: 'Oslo' }]);
    const { service, model } = await startApp({ url: server.url }, [calls, textReply('done')], {
      properties: { client_toolset: [client] },
    });
    const questionReply = await service.chat('app', chatRequest);
    const handover = getChoice(await answer(service, [questionReply], [date]));
    expect(handover).toMatchObject({ finish_reason: 'function_call', message: { function_call: { name: 'locate' } } });
    const functionResult = { role: 'function', name: 'locate', content: 'Bergen' };
    const control = { role: 'user', custom_content: { completed_control: date } };
    await service.chat('app', {
      messages: [...chatRequest.messages, getChoice(questionReply).message, control, handover.message, functionResult],
    });
    expect(getToolResults(model)).toEqual(['Bergen', 'accept 2026-12-24 kept']);
    expect(model.requests).toHaveLength(2);
  });

  it('appear as often as the server repeats them', async () => {
    const twice: ServedTool = {
      name: 'twice',
      run: (_args, { mcpReq }) => {
        const next = `${mcpReq.requestState<string>() ?? ''}.`;
        const question = inputRequired.elicit({ message: `Sure${next}`, requestedSchema: { type: 'object', properties: {} } });
        return next === '...' ? text('done') : inputRequired({ inputRequests: { question }, requestState: next });
      },
    };
    const server = await startStateless([twice]);
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['twice']), textReply('done')]);
    const one = await service.chat('app', chatRequest);
    const two = await answer(service, [one], [createAnswer({})]);
    expect([getChoice(one).message.content, getChoice(two).message.content]).toEqual([
      '**Tools** asks: Sure.',
      '**Tools** asks: Sure..',
    ]);
    await answer(service, [one, two], [createAnswer({}), createAnswer({})]);
    expect(getToolResults(model)).toEqual(['done']);
  });
});

describe('an input request that is not a question for the user', () => {
  const tool = (run: (context: ServerContext) => ReturnType<ServedTool['run']>): ServedTool => ({
    name: 'tool',
    run: (_args, context) => run(context),
  });

  it('fails the tool call if the server requests sampling', async () => {
    const sampling = tool(() => requestInput({ it: inputRequired.createMessage({ messages: [], maxTokens: 1 }) }));
    const server = await startStateless([sampling]);
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['tool']), textReply('done')]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual([expect.stringContaining('capabilities do not declare')]);
  });

  it('repeats the call immediately if the server only returns its state', async () => {
    const again = tool(({ mcpReq }) =>
      mcpReq.requestState<string>() === 'kept' ? text('done') : inputRequired({ requestState: 'kept' }),
    );
    const server = await startStateless([again]);
    const { service, model } = await startApp({ url: server.url }, [toolCallReply(['tool']), textReply('done')]);
    await service.chat('app', chatRequest);
    expect(getToolResults(model)).toEqual(['done']);
  });
});
