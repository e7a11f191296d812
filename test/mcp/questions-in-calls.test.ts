import type { ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { echo, type ServedTool, startSessions, text } from './servers.ts';
import {
  answer,
  chatRequest,
  createAnswer,
  decline,
  getChoice,
  getOfferedTools,
  getToolResults,
  startApp,
  startEverything,
  type ToolCalling,
  textReply,
  toolCallReply,
} from './support.ts';

/** The transports of the 2025 revisions that the reference server supports. */
const transports = [
  ['streamableHttp', 'streamable_http'],
  ['sse', 'sse'],
] as const;

const elicit = 'trigger-elicitation-request';

async function startReference(transport: (typeof transports)[number][0], ...calls: readonly ToolCalling[]) {
  const { url } = await startEverything(transport);
  const protocol = transport === 'sse' ? 'sse' : 'streamable_http';
  return startApp({ url, protocol }, [toolCallReply(...calls), textReply('Done.')]);
}

describe.each(transports)('a question of the reference server during a call over %s', (transport) => {
  it('ends the reply with a control, and the call continues with the answer', async () => {
    const { service, model } = await startReference(transport, [elicit]);
    const questionReply = await service.chat('app', chatRequest);
    expect(getOfferedTools(model)).toContain(elicit);
    const { message, finish_reason } = getChoice(questionReply);
    expect([message.content, finish_reason]).toEqual(['**Tools** asks: Please provide inputs for the following fields:', 'stop']);
    expect(message.custom_content.controls).toMatchObject([
      { index: 0, label: 'Answer Tools', schema: { type: 'object', required: ['name'] } },
      { index: 1, label: 'Decline' },
    ]);
    expect(model.requests).toHaveLength(1);
    const done = await answer(service, [questionReply], [createAnswer({ name: 'Ada', integer: 7 })]);
    expect(getChoice(done).message.content).toBe('Done.');
    expect(getToolResults(model)[0]).toMatch(/User provided the requested information[\s\S]*Name: Ada[\s\S]*Favorite Integer: 7/);
  });

  it('passes a declined answer to the server', async () => {
    const { service, model } = await startReference(transport, [elicit]);
    await answer(service, [await service.chat('app', chatRequest)], [decline]);
    expect(getToolResults(model)).toEqual([expect.stringContaining('User declined')]);
  });

  it('belongs to its own call while other calls run concurrently', async () => {
    const calls: ToolCalling[] = [
      ['echo', { message: 'hi' }],
      [elicit],
      ['trigger-long-running-operation', { duration: 0.4, steps: 2 }],
    ];
    const { service, model } = await startReference(transport, ...calls);
    await answer(service, [await service.chat('app', chatRequest)], [createAnswer({ name: 'Ada' })]);
    expect(getToolResults(model)).toEqual([
      'Echo: hi',
      expect.stringContaining('Name: Ada'),
      expect.stringContaining('Long running operation completed'),
    ]);
  });
});

it('cancels the later of two questions if the stream does not relate questions to calls', async () => {
  const { service, model } = await startReference('sse', [elicit], [elicit]);
  const questionReply = await service.chat('app', chatRequest);
  expect(getChoice(questionReply).message.custom_content.stages?.map(({ status }) => status)).toEqual(['completed', 'completed']);
  await answer(service, [questionReply], [createAnswer({ name: 'Ada' })]);
  expect(getToolResults(model)).toHaveLength(2);
  for (const expected of ['Name: Ada', 'User cancelled'])
    expect(getToolResults(model)).toContainEqual(expect.stringContaining(expected));
});

const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };

/** Creates a tool that asks for a city with each message in turn and returns the answers. */
function createAskingTool(name: string, ...messages: readonly string[]): ServedTool & { readonly runs: unknown[] } {
  const runs: unknown[] = [];
  const run = async (args: object, { mcpReq }: ServerContext) => {
    runs.push(args);
    const answers: unknown[] = [];
    for (const message of messages) {
      const question = { message, requestedSchema: schema };
      const { action, content } = await mcpReq.elicitInput(question, { relatedRequestId: mcpReq.id });
      if (action === 'cancel') return text('cancelled');
      answers.push(content?.city ?? action);
    }
    return text(`${name} ${answers.join(', ')}`);
  };
  return { name, run, runs };
}

const sessionsApp = async (calls: readonly ToolCalling[], ...tools: readonly ServedTool[]) => {
  const server = await startSessions([...tools]);
  return { server, ...(await startApp({ url: server.url }, [toolCallReply(...calls), textReply('Done.')])) };
};
const city = (name: string): object => createAnswer({ city: name });
const getQuestion = (reply: Awaited<ReturnType<typeof answer>>) => getChoice(reply).message.content;

describe('a session call that asks a question', () => {
  it('is canceled and repeated with the answer', async () => {
    const book = createAskingTool('book', 'Where to?');
    const { server, service, model } = await sessionsApp([['book', { nights: 2 }]], book);
    const questionReply = await service.chat('app', chatRequest);
    expect([getQuestion(questionReply), book.runs]).toEqual(['**Tools** asks: Where to?', [{ nights: 2 }]]);
    await answer(service, [questionReply], [city('Oslo')]);
    expect([getToolResults(model), book.runs]).toEqual([['book Oslo'], [{ nights: 2 }, { nights: 2 }]]);
    const [first] = server.asked('tools/call');
    expect(server.asked('notifications/cancelled')[0]?.message.params).toMatchObject({
      requestId: (first?.message as { id?: unknown } | undefined)?.id,
    });
  });

  it('is repeated with all answers so far if it asks multiple questions', async () => {
    const { service, model } = await sessionsApp([['book']], createAskingTool('book', 'From?', 'To?', 'Back to?'));
    const answers = [city('Oslo'), decline, city('Rome')];
    const replies = [await service.chat('app', chatRequest)];
    for (const nth of [1, 2]) replies.push(await answer(service, replies.slice(0, nth), answers));
    expect(replies.map(getQuestion)).toEqual(['From?', 'To?', 'Back to?'].map((each) => `**Tools** asks: ${each}`));
    await answer(service, replies, answers);
    expect(getToolResults(model)).toEqual(['book Oslo, decline, Rome']);
  });

  it('receives its own answer if other calls ask too', async () => {
    const { service, model } = await sessionsApp(
      [['one'], ['two'], ['echo', { text: 'hi' }]],
      createAskingTool('one', 'One?'),
      createAskingTool('two', 'Two?'),
      echo,
    );
    const one = await service.chat('app', chatRequest);
    const two = await answer(service, [one], [city('Oslo')]);
    expect([one, two].map(getQuestion)).toEqual(['**Tools** asks: One?', '**Tools** asks: Two?']);
    await answer(service, [one, two], [city('Oslo'), city('Rome')]);
    expect(getToolResults(model)).toEqual(['one Oslo', 'two Rome', 'echo hi']);
  });

  it('continues with the answer on another node', async () => {
    const server = await startSessions([createAskingTool('book', 'Where to?')]);
    const [one, other] = [
      await startApp({ url: server.url }, [toolCallReply(['book'])]),
      await startApp({ url: server.url }, [textReply('Done.')]),
    ];
    await answer(other.service, [await one.service.chat('app', chatRequest)], [city('Oslo')]);
    expect(getToolResults(other.model, 0)).toEqual(['book Oslo']);
  });

  it('discards the earlier answer if it asks a different question when repeated', async () => {
    const messages = ['Sure?', 'Really?', 'Really?'];
    const fickle: ServedTool = {
      name: 'fickle',
      run: async (_args, { mcpReq }) => {
        const { content } = await mcpReq.elicitInput({ message: messages.shift() ?? '', requestedSchema: schema });
        return text(`${content?.city}`);
      },
    };
    const { service, model } = await sessionsApp([['fickle']], fickle);
    const one = await service.chat('app', chatRequest);
    const two = await answer(service, [one], [city('Oslo')]);
    expect(getQuestion(two)).toBe('**Tools** asks: Really?');
    await answer(service, [one, two], [city('Oslo'), city('Rome')]);
    expect(getToolResults(model)).toEqual(['Rome']);
  });

  it('fails after more than 10 questions', async () => {
    const messages = Array.from({ length: 11 }, (_, nth) => `${nth}?`);
    const { service, model } = await sessionsApp([['book']], createAskingTool('book', ...messages));
    const replies = [await service.chat('app', chatRequest)];
    while (replies.length < 11) replies.push(await answer(service, replies, Array(10).fill(decline)));
    expect(getQuestion(replies[10] as (typeof replies)[number])).toBe('Done.');
    expect(getToolResults(model)).toEqual([expect.stringContaining('asks more than 10 questions in one call')]);
  });

  it('cannot ask the client to visit a page or for sampling', async () => {
    const catching = (name: string, work: (context: ServerContext) => Promise<unknown>): ServedTool => ({
      name,
      run: async (_args, context) => text(await work(context).then(String, (error) => `refused: ${error.message}`)),
    });
    const page = catching('page', ({ mcpReq }) =>
      mcpReq.elicitInput({ mode: 'url', message: 'Sign in', url: 'https://host.example/', elicitationId: 'a' } as never),
    );
    const model = catching('model', ({ mcpReq }) => mcpReq.requestSampling({ messages: [], maxTokens: 1 } as never));
    const app = await sessionsApp([['page'], ['model']], page, model);
    await app.service.chat('app', chatRequest);
    expect(getToolResults(app.model)).toEqual([expect.stringMatching(/^refused: .*url/i), expect.stringMatching(/^refused: /)]);
  });
});

it('cancels a question of a session that has no call in progress', async () => {
  const { server, service } = await sessionsApp([['echo', { text: 'hi' }]], echo);
  await service.chat('app', chatRequest);
  const [session] = [...server.sessions.open.values()];
  await expect(session?.elicitInput({ message: 'Now?', requestedSchema: schema })).resolves.toEqual({ action: 'cancel' });
});
