import type { ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { echo, type ServedTool, startSessions, text } from './servers.ts';
import {
  answer,
  ask,
  callsTools,
  choiceOf,
  decline,
  given,
  offered,
  says,
  startApp,
  startEverything,
  type ToolCalling,
  toolTexts,
} from './support.ts';

/** The reference server over each of the transports of the 2025 revisions. */
const transports = [
  ['streamableHttp', 'streamable_http'],
  ['sse', 'sse'],
] as const;

const elicit = 'trigger-elicitation-request';

async function startReference(transport: (typeof transports)[number][0], ...calls: readonly ToolCalling[]) {
  const { url } = await startEverything(transport);
  const protocol = transport === 'sse' ? 'sse' : 'streamable_http';
  return startApp({ url, protocol }, [callsTools(...calls), says('Done.')]);
}

describe.each(transports)('a question of the reference server in the middle of a call over %s', (transport) => {
  it('ends the reply with a control, and its answer is what the call goes on with', async () => {
    const { service, model } = await startReference(transport, [elicit]);
    const asked = await service.chat('app', ask);
    expect(offered(model)).toContain(elicit);
    const { message, finish_reason } = choiceOf(asked);
    expect([message.content, finish_reason]).toEqual(['**Tools** asks: Please provide inputs for the following fields:', 'stop']);
    expect(message.custom_content.controls).toMatchObject([
      { index: 0, label: 'Answer Tools', schema: { type: 'object', required: ['name'] } },
      { index: 1, label: 'Decline' },
    ]);
    expect(model.requests).toHaveLength(1);
    const done = await answer(service, [asked], [given({ name: 'Ada', integer: 7 })]);
    expect(choiceOf(done).message.content).toBe('Done.');
    expect(toolTexts(model)[0]).toMatch(/User provided the requested information[\s\S]*Name: Ada[\s\S]*Favorite Integer: 7/);
  });

  it('may be declined, which the server is told', async () => {
    const { service, model } = await startReference(transport, [elicit]);
    await answer(service, [await service.chat('app', ask)], [decline]);
    expect(toolTexts(model)).toEqual([expect.stringContaining('User declined')]);
  });

  it('is its own call’s, whatever else runs beside it', async () => {
    const calls: ToolCalling[] = [
      ['echo', { message: 'hi' }],
      [elicit],
      ['trigger-long-running-operation', { duration: 0.4, steps: 2 }],
    ];
    const { service, model } = await startReference(transport, ...calls);
    await answer(service, [await service.chat('app', ask)], [given({ name: 'Ada' })]);
    expect(toolTexts(model)).toEqual([
      'Echo: hi',
      expect.stringContaining('Name: Ada'),
      expect.stringContaining('Long running operation completed'),
    ]);
  });
});

it('of two questions on one stream that tells nothing of their calls the later is cancelled', async () => {
  const { service, model } = await startReference('sse', [elicit], [elicit]);
  const asked = await service.chat('app', ask);
  expect(choiceOf(asked).message.custom_content.stages?.map(({ status }) => status)).toEqual(['completed', 'completed']);
  await answer(service, [asked], [given({ name: 'Ada' })]);
  expect(toolTexts(model)).toHaveLength(2);
  for (const told of ['Name: Ada', 'User cancelled']) expect(toolTexts(model)).toContainEqual(expect.stringContaining(told));
});

const schema = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };

/** Asks for the city of each message in turn, and tells what it was told. */
function asking(name: string, ...messages: readonly string[]): ServedTool & { readonly runs: unknown[] } {
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
  return { server, ...(await startApp({ url: server.url }, [callsTools(...calls), says('Done.')])) };
};
const city = (name: string): object => given({ city: name });
const askedIn = (answered: Awaited<ReturnType<typeof answer>>) => choiceOf(answered).message.content;

describe('a call of a session that asks', () => {
  it('is made again with the answer: what it did before it asked it does again', async () => {
    const book = asking('book', 'Where to?');
    const { server, service, model } = await sessionsApp([['book', { nights: 2 }]], book);
    const asked = await service.chat('app', ask);
    expect([askedIn(asked), book.runs]).toEqual(['**Tools** asks: Where to?', [{ nights: 2 }]]);
    await answer(service, [asked], [city('Oslo')]);
    expect([toolTexts(model), book.runs]).toEqual([['book Oslo'], [{ nights: 2 }, { nights: 2 }]]);
    const [first] = server.asked('tools/call');
    expect(server.asked('notifications/cancelled')[0]?.message.params).toMatchObject({
      requestId: (first?.message as { id?: unknown } | undefined)?.id,
    });
  });

  it('several times is asked one after the other, with the answers so far', async () => {
    const { service, model } = await sessionsApp([['book']], asking('book', 'From?', 'To?', 'Back to?'));
    const answers = [city('Oslo'), decline, city('Rome')];
    const asked = [await service.chat('app', ask)];
    for (const nth of [1, 2]) asked.push(await answer(service, asked.slice(0, nth), answers));
    expect(asked.map(askedIn)).toEqual(['From?', 'To?', 'Back to?'].map((each) => `**Tools** asks: ${each}`));
    await answer(service, asked, answers);
    expect(toolTexts(model)).toEqual(['book Oslo, decline, Rome']);
  });

  it('beside others that ask is told its own answer', async () => {
    const { service, model } = await sessionsApp(
      [['one'], ['two'], ['echo', { text: 'hi' }]],
      asking('one', 'One?'),
      asking('two', 'Two?'),
      echo,
    );
    const one = await service.chat('app', ask);
    const two = await answer(service, [one], [city('Oslo')]);
    expect([one, two].map(askedIn)).toEqual(['**Tools** asks: One?', '**Tools** asks: Two?']);
    await answer(service, [one, two], [city('Oslo'), city('Rome')]);
    expect(toolTexts(model)).toEqual(['one Oslo', 'two Rome', 'echo hi']);
  });

  it('goes on with the answer on any node', async () => {
    const server = await startSessions([asking('book', 'Where to?')]);
    const [one, other] = [
      await startApp({ url: server.url }, [callsTools(['book'])]),
      await startApp({ url: server.url }, [says('Done.')]),
    ];
    await answer(other.service, [await one.service.chat('app', ask)], [city('Oslo')]);
    expect(toolTexts(other.model, 0)).toEqual(['book Oslo']);
  });

  it('otherwise than the last time is a new question', async () => {
    const messages = ['Sure?', 'Really?', 'Really?'];
    const fickle: ServedTool = {
      name: 'fickle',
      run: async (_args, { mcpReq }) => {
        const { content } = await mcpReq.elicitInput({ message: messages.shift() ?? '', requestedSchema: schema });
        return text(`${content?.city}`);
      },
    };
    const { service, model } = await sessionsApp([['fickle']], fickle);
    const one = await service.chat('app', ask);
    const two = await answer(service, [one], [city('Oslo')]);
    expect(askedIn(two)).toBe('**Tools** asks: Really?');
    await answer(service, [one, two], [city('Oslo'), city('Rome')]);
    expect(toolTexts(model)).toEqual(['Rome']);
  });

  it('without end is ended, which the model is told', async () => {
    const messages = Array.from({ length: 11 }, (_, nth) => `${nth}?`);
    const { service, model } = await sessionsApp([['book']], asking('book', ...messages));
    const asked = [await service.chat('app', ask)];
    while (asked.length < 11) asked.push(await answer(service, asked, Array(10).fill(decline)));
    expect(askedIn(asked[10] as (typeof asked)[number])).toBe('Done.');
    expect(toolTexts(model)).toEqual([expect.stringContaining('asks more than 10 questions in one call')]);
  });

  it('its client to visit a page is refused, and so is its model', async () => {
    const refused = (name: string, work: (context: ServerContext) => Promise<unknown>): ServedTool => ({
      name,
      run: async (_args, context) => text(await work(context).then(String, (fault) => `refused: ${fault.message}`)),
    });
    const page = refused('page', ({ mcpReq }) =>
      mcpReq.elicitInput({ mode: 'url', message: 'Sign in', url: 'https://host.example/', elicitationId: 'a' } as never),
    );
    const model = refused('model', ({ mcpReq }) => mcpReq.requestSampling({ messages: [], maxTokens: 1 } as never));
    const app = await sessionsApp([['page'], ['model']], page, model);
    await app.service.chat('app', ask);
    expect(toolTexts(app.model)).toEqual([expect.stringMatching(/^refused: .*url/i), expect.stringMatching(/^refused: /)]);
  });
});

it('a question of a session where no call waits is cancelled', async () => {
  const { server, service } = await sessionsApp([['echo', { text: 'hi' }]], echo);
  await service.chat('app', ask);
  const [session] = [...server.sessions.open.values()];
  await expect(session?.elicitInput({ message: 'Now?', requestedSchema: schema })).resolves.toEqual({ action: 'cancel' });
});
