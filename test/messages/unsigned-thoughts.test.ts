import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainCompletion, plainReply } from '#test/chunks.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createRecordedReply, createUpstream } from '#test/vendor-replies.ts';
import { responsesReply } from '../upstreams/matrix-support.ts';
import { post } from './support.ts';

let upstream: ScriptedUpstream;
let service: TestService;

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };

interface Turn {
  readonly role: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: unknown;
}

/** Answers like DeepSeek in thinking mode, which requires the thoughts of a turn that called a tool. */
const deepSeek: Reply = (exchange) => {
  const { messages, stream } = exchange.received.body as { messages: Turn[]; stream?: boolean };
  const isForgotten = messages.some(({ tool_calls, reasoning_content }) => tool_calls !== undefined && !reasoning_content);
  if (isForgotten)
    return errorReply(
      400,
      {},
      { message: 'The reasoning_content in the thinking mode must be passed back to the API.' },
    )(exchange);
  if (messages.some(({ role }) => role === 'tool')) return jsonReply(plainCompletion('Sunny.'))(exchange);
  if (stream === true)
    return eventsReply(
      delta({ role: 'assistant', reasoning_content: 'I must ' }),
      delta({ reasoning_content: 'look.' }),
      delta({ tool_calls: [call] } as never),
      finish('tool_calls'),
    )(exchange);
  const message = { role: 'assistant', content: null, reasoning_content: 'I must look.', tool_calls: [call] };
  return jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))(exchange);
};

beforeAll(async () => {
  upstream = await startScriptedUpstream(deepSeek);
  const { endpoint, url } = upstream;
  const once = { maxRetryAttempts: 1 };
  service = await startService({
    models: {
      deepseek: { upstreams: [{ endpoint }], ...once },
      thinking: { upstreams: [{ endpoint, acceptsReasoning: true }], ...once },
      strict: { upstreams: [{ endpoint, acceptsReasoning: false }], ...once },
      responses: { upstreams: [{ endpoint, api: 'responses' }], ...once },
      gemini: { upstreams: [createUpstream('gemini', url)], ...once },
    },
    applications: {
      quick: {
        applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
        applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'strict' },
      },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const tools = [{ name: 'look', input_schema: { type: 'object' } }];
const question = { role: 'user', content: 'How is the weather?' };

function createSecondTurn(content: unknown): object[] {
  const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'sun' };
  return [question, { role: 'assistant', content }, { role: 'user', content: [result] }];
}

const thinking = { type: 'thinking', thinking: 'I must look.', signature: '' };
const toolUse = { type: 'tool_use', id: 'call_1', name: 'look', input: {} };

function getSentTurn(): Turn | undefined {
  const body = upstream.requests.at(-1)?.body as { messages: Turn[] } | undefined;
  return body?.messages.find(({ role }) => role === 'assistant');
}

describe('model that requires its earlier thoughts', () => {
  it('answers the second turn with the blocks of the first', async () => {
    const first = await post(service, { model: 'deepseek', tools, messages: [question] });
    const { content } = first.json as { content: { type: string }[] };
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    const second = await post(service, { model: 'deepseek', tools, messages: createSecondTurn(content) });
    expect([second.status, second.headers['parley-ignored']]).toEqual([200, undefined]);
    expect(getSentTurn()).toMatchObject({ reasoning_content: 'I must look.' });
  });

  it('receives several blocks as one text', async () => {
    const blocks = [{ ...thinking, thinking: 'I must ' }, { ...thinking, thinking: 'look.' }, toolUse];
    const { status } = await post(service, { model: 'deepseek', tools, messages: createSecondTurn(blocks) });
    expect([status, getSentTurn()?.reasoning_content]).toEqual([200, 'I must look.']);
  });
});

describe('model that rejects calls without thoughts', () => {
  it('receives a space instead of thoughts if another model made the calls', async () => {
    const messages = [...createSecondTurn([toolUse]), { role: 'assistant', content: 'Sunny.' }, question];
    const { status } = await post(service, { model: 'thinking', tools, messages });
    expect([status, getSentTurn()?.reasoning_content]).toEqual([200, ' ']);
    const body = upstream.requests.at(-1)?.body as { messages: Turn[] } | undefined;
    expect(body?.messages.at(-2)).toEqual({ role: 'assistant', content: 'Sunny.', reasoning_content: ' ' });
  });

  it('receives a conversation without calls unchanged', async () => {
    const messages = [question, { role: 'assistant', content: 'Sunny.' }, question];
    await post(service, { model: 'thinking', messages });
    expect(getSentTurn()).not.toHaveProperty('reasoning_content');
  });
});

describe('reasoning without a signature', () => {
  const messages = [question, { role: 'assistant', content: [thinking, { type: 'text', text: 'Sunny.' }] }, question];

  it.each<[string, Reply]>([
    ['strict', deepSeek],
    ['responses', jsonReply(responsesReply({}))],
    ['gemini', createRecordedReply('gemini', 'text')],
  ])('is listed in Parley-Ignored if it is dropped: %s', async (model, reply) => {
    upstream.script(reply);
    const { status, headers } = await post(service, { model, messages });
    upstream.script(deepSeek);
    expect([status, headers['parley-ignored']]).toEqual([200, 'content.thinking']);
    expect(upstream.requests.at(-1)?.text).not.toContain('I must look.');
  });

  it('does not reach a model of a quick app that does not accept reasoning', async () => {
    upstream.script(eventsReply(...plainReply('Sunny.')));
    const { status } = await post(service, { model: 'quick', messages });
    upstream.script(deepSeek);
    expect([status, getSentTurn()]).toEqual([200, { role: 'assistant', content: 'Sunny.' }]);
  });
});

describe('reasoning_content of a chat client', () => {
  it('is omitted and listed in Parley-Ignored if the upstream does not accept it', async () => {
    const messages = [question, { role: 'assistant', content: 'Sunny.', reasoning_content: 'Hm.' }, question];
    const { headers } = await service.chat('strict', { messages });
    expect([headers['parley-ignored'], getSentTurn()]).toEqual([
      'messages.reasoning_content',
      { role: 'assistant', content: 'Sunny.' },
    ]);
  });
});
