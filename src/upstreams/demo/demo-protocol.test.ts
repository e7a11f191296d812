import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, it } from 'vitest';
import { LocalEmbedder } from '#base/embedding/local-embedder.ts';
import { toAsyncIterable } from '#base/stream/async-items.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { collectReply, createDemo, createTool, createUserMessage, toAttempt } from '#test/demo-model.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { createDemoProtocol } from './demo-protocol.ts';

const { sendChat, embedder } = createDemo();
afterAll(() => embedder.close());

const handbook = `Welcome to Acme. Employees get 30 days of vacation a year. Remote work is possible on two days a week.
Parking is free for visitors. The canteen serves lunch from noon to two.`;

function getKind({ choices, usage }: Chunk): string {
  const [choice] = choices;
  if (usage) return 'usage';
  if (choice?.finish_reason) return 'finish';
  const { custom_content: custom, ...delta } = choice?.delta ?? {};
  return Object.keys({ ...delta, ...custom }).join();
}

describe('the frames of the demo', () => {
  it('follow the order of the wire', async () => {
    const { chunks } = await sendChat('show me everything', { stream: true });
    const kinds = chunks.map(getKind);
    expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
      'role',
      'stages',
      'content',
      'attachments',
      'controls',
      'state',
      'finish',
      'usage',
    ]);
    expect(chunks.at(-1)?.choices).toEqual([]);
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', created: 1_700_000_000, model: 'demo' });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('are the same for streamed and complete replies, except for IDs', async () => {
    const streamed = await sendChat('show me everything', { stream: true });
    const complete = await sendChat('show me everything');
    expect(complete.chunks.map(({ id: _, ...chunk }) => chunk)).toEqual(streamed.chunks.map(({ id: _, ...chunk }) => chunk));
  });

  it('contain the content word by word', async () => {
    const { chunks, content } = await sendChat('Count to 12');
    const words = chunks.map(({ choices }) => choices[0]?.delta.content).filter((word) => word !== undefined);
    expect(words).toEqual(['1', ' 2', ' 3', ' 4', ' 5', ' 6', ' 7', ' 8', ' 9', ' 10', ' 11', ' 12']);
    expect(content).toBe('1 2 3 4 5 6 7 8 9 10 11 12');
  });
});

describe('the demo', () => {
  it.each(['hello', 'Help!', 'Say help please.', 'what can you do?', 'Who are you?', ''])(
    'introduces itself for %j',
    async (question) => {
      const { content } = await sendChat(question);
      expect(content).toContain('I am Parley’s demo, not a language model');
      expect(content).toContain('Things to try');
    },
  );

  it('reports that it has no answer', async () => {
    const { content } = await sendChat('Who won the world cup in 1998?');
    expect(content).toMatch(/not a language model.+I cannot answer “Who won the world cup in 1998\?”/);
    expect((await sendChat('Tell me of the world cup. ')).content).toContain('I cannot answer “Tell me of the world cup”. Say');
  });

  it('describes the request in a table, if asked to', async () => {
    const { message } = await sendChat('Give me an attachment', { tools: [createTool('pipe|d', 'Adds')] });
    expect(message.custom_content?.attachments).toEqual([
      { index: 0, type: 'text/markdown', title: 'What I saw', data: expect.stringContaining('| Tools offered | pipe\\|d |') },
    ]);
    expect(message.custom_content?.controls).toBeUndefined();
  });

  it('offers controls and stores them in its state', async () => {
    const { message } = await sendChat('Show me controls');
    const { controls = [], state } = message.custom_content ?? {};
    expect(controls.map(({ index, label }) => [index, label])).toEqual([
      [0, 'Pick a color'],
      [1, 'Rate this answer'],
    ]);
    expect(state).toEqual({ parley_controls: controls.map(({ label, schema }) => ({ label, schema })) });
  });

  it('names a completed control and its value', async () => {
    const message: Message = {
      role: 'user',
      custom_content: { completed_control: { label: 'Pick a color', value: { color: 'green' } } },
    };
    expect((await sendChat([message])).content).toBe('You used the control **Pick a color** with the value `{"color":"green"}`.');
    expect((await sendChat([{ ...message, content: 'as you wish' }])).content).toContain('You also wrote “as you wish”.');
  });

  it('shows a stage that fails and one with an attachment', async () => {
    const { message } = await sendChat('show me stages');
    const stages = message.custom_content?.stages ?? [];
    expect(stages.map(({ index, status }) => [index, status])).toEqual([
      [0, 'completed'],
      [1, 'completed'],
      [2, 'failed'],
    ]);
    expect(stages[1]?.attachments).toHaveLength(1);
  });
});

describe('documents', () => {
  it('are quoted where they are nearest to the question', async () => {
    const attachments = [{ index: 0, type: 'text/plain', title: 'Handbook', data: handbook }];
    const { content, message } = await sendChat([createUserMessage('How many vacation days do employees get?', { attachments })]);
    expect(content).toMatch(/^Nearest to your question I find:\n\n> Employees get 30 days of vacation a year\.\n>\n> — Handbook/);
    expect(message.custom_content?.stages?.at(-1)?.name).toBe('Searching the passages');
  });

  it('may be pasted between quotes, sent as long text, or come from an earlier message', async () => {
    const long = `${handbook}\n${'Nothing to see in this line of text.\n'.repeat(30)}`;
    for (const messages of [
      [createUserMessage(`When is lunch? """${handbook}"""`)],
      [createUserMessage(`${long}\nWhen is lunch served?`)],
      [createUserMessage(`${long.replaceAll('\n', ' ')} When is lunch served?`)],
      [createUserMessage(`> ${handbook.replaceAll('\n', '\n> ')}\nWhen is lunch served?`)],
      [createUserMessage(`"""${handbook}""" Read this`), createUserMessage('When is lunch served?')],
    ]) {
      expect((await sendChat(messages)).content).toMatch(/^Nearest[^>]+> The canteen serves lunch from noon to two\./);
    }
  });

  it('are not quoted if they are not near the question', async () => {
    const attachments = [{ title: 'Handbook', data: handbook }];
    expect((await sendChat([createUserMessage('Which planets have rings?', { attachments })])).content).toContain(
      'no text in this conversation is close to it',
    );
  });

  it('are named if they cannot be read', async () => {
    const attachments = [{ type: 'image/png', data: 'AAAA' }];
    expect((await sendChat([createUserMessage('Which planets have rings?', { attachments })])).content).toContain(
      'the attachments are not text',
    );
  });
});

describe('limits', () => {
  it('end the reply with length at max_tokens, and usage counts those tokens', async () => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      const { content, reply } = await sendChat('Count to 100', { [field]: 10 });
      expect(countTokens(content)).toBe(10);
      expect(reply.choices[0]?.finish_reason).toBe('length');
      expect(reply.usage?.completion_tokens).toBe(10);
    }
  });

  it('truncate the arguments of a call at max_tokens', async () => {
    const tools = [createTool('get_weather', 'Get the weather in a city', { location: { type: 'string' } })];
    const attempt = toAttempt('What is the weather in Paris?', { tools, max_tokens: 5 });
    const texts: string[] = [];
    for await (const { chunks } of toAsyncIterable<RawFrame>((sink) => createDemo().demo.chat(attempt, sink)))
      texts.push(JSON.stringify(chunks));
    expect(texts.join()).toContain('"finish_reason":"length"');
  });

  it('end the reply before a stop word', async () => {
    const { content, reply } = await sendChat('Count to 100', { stop: ['never', ' 7'] });
    expect(content).toBe('1 2 3 4 5 6');
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect((await sendChat('Count to 100', { stop: '1' })).content).toBe('');
  });

  it('include JSON content for response_format', async () => {
    const { content } = await sendChat('Tell me a joke', { response_format: { type: 'json_object' } });
    expect(JSON.parse(content)).toEqual({ answer: expect.stringContaining('not a language model') });
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
    };
    const shaped = await sendChat('Plan 3 days in Rome', {
      response_format: { type: 'json_schema', json_schema: { name: 'trip', schema } },
    });
    expect(JSON.parse(shaped.content)).toEqual({ city: 'Rome', days: 3 });
  });

  it('count tokens by o200k_base', async () => {
    const { reply, content } = await sendChat('Count to 20');
    expect(reply.usage).toEqual({
      prompt_tokens: countTokens('user\nCount to 20') + 6,
      completion_tokens: countTokens(content),
      total_tokens: countTokens('user\nCount to 20') + 6 + countTokens(content),
    });
  });
});

describe('unusual input', () => {
  it.each<[string, Message[]]>([
    [
      'parts',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hello' },
            { type: 'image_url', image_url: { url: 'x' } },
          ],
        },
      ],
    ],
    ['no parts', [{ role: 'user', content: [] }]],
    ['null content', [{ role: 'user', content: null }]],
    ['no user', [{ role: 'system', content: 'Be kind.' }]],
    ['special tokens', [createUserMessage('<|endoftext|><|im_start|>')]],
    ['lone surrogates', [createUserMessage('\ud800 \udc00 \u0000')]],
    ['a result without a call', [{ role: 'tool', content: 'x', tool_call_id: 'none' }]],
  ])('%s is answered', async (_, messages) => {
    const { reply } = await sendChat(messages);
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(reply.usage?.total_tokens).toBeGreaterThan(0);
  });

  it.each([
    ['one word', 'x'.repeat(1_000_000)],
    ['blanks', ' '.repeat(1_000_000)],
    ['sentences', 'The quick brown fox jumps. '.repeat(40_000)],
    ['lines', 'a?\n'.repeat(340_000)],
    ['quote marks', '"'.repeat(1_000_000)],
    ['digits and dots', '1.'.repeat(500_000)],
  ])('a megabyte of %s is answered in limited time', async (_, text) => {
    const tools = [createTool('add', 'Adds two numbers', { a: { type: 'number' }, note: { type: 'string' } })];
    let content = '';
    const blockedMs = await measureEventLoopBlock(async () => {
      await sendChat([createUserMessage(text), createUserMessage(text)], { tools, tool_choice: 'required' });
      ({ content } = await sendChat([createUserMessage('Which fox?', { attachments: [{ data: text }] })]));
    });
    expect(content).not.toBe('');
    expect(blockedMs).toBeLessThan(8000);
  });
});

describe('a stream', () => {
  it('is paced, and ends when the client disconnects', async () => {
    const paced = createDemo(15);
    const controller = new AbortController();
    const startMs = performance.now();
    let abortMs = 0;
    let frames = 0;
    const run = (async () => {
      const attempt = toAttempt('Count to 1000', { stream: true });
      for await (const _ of toAsyncIterable<RawFrame>((sink) => paced.demo.chat(attempt, sink), controller.signal)) {
        frames += 1;
        if (frames === 12) {
          setTimeout(() => {
            abortMs = performance.now();
            controller.abort(new Error('left'));
          }, 3);
        }
      }
    })();
    await expect(run).rejects.toThrow('left');
    expect(abortMs - startMs).toBeGreaterThan(100);
    // A small part of the reply, even if the machine is slow and the abort is late.
    expect(frames).toBeLessThan(500);
    await paced.embedder.close();
  });

  it('ends immediately if it is canceled while the model works', async () => {
    const fresh = createDemo();
    const controller = new AbortController();
    const tools = Array.from({ length: 100 }, (_, index) => createTool(`tool_${index}`, `Does thing number ${index}`));
    setTimeout(() => controller.abort(new Error('left')), 200);
    await expect(collectReply(fresh.demo, toAttempt('Do thing number 7', { tools }), controller.signal)).rejects.toThrow('left');
    await fresh.embedder.close();
  });

  it('runs concurrently with 99 further streams', async () => {
    const tools = [createTool('get_weather', 'Get the current weather in a city', { location: { type: 'string' } })];
    const cities = Array.from({ length: 100 }, (_, index) => `City${index}`);
    const replies = await Promise.all(cities.map((city) => sendChat(`What is the weather in ${city}?`, { tools })));
    expect(replies.map(({ calls }) => calls.length)).toEqual(cities.map(() => 1));
  });
});

describe('an embedder that fails', () => {
  const attempt = toAttempt('What is the weather?', { tools: [createTool('get_weather', '')] });
  const createDemoWith = (failingEmbedder: Embedder) =>
    createDemoProtocol({ embedder: failingEmbedder, epochMs: Date.now, newId: () => 'x', paceMs: 0 });

  it('causes an upstream error', async () => {
    const failingEmbedder = { model: 'none', dimensions: 1, embed: () => Promise.reject(new Error('secret')) };
    await expect(collectReply(createDemoWith(failingEmbedder), attempt)).rejects.toMatchObject({
      kind: 'broken',
      message: 'The embedder failed.',
    });
  });

  it('causes a retryable error if it is overloaded', async () => {
    const busyDemo = createDemoWith(new LocalEmbedder({ maxWaitingTexts: 1 }));
    await expect(collectReply(busyDemo, attempt)).rejects.toMatchObject({ kind: 'refused', status: 503, retryAfterSeconds: 1 });
  });

  it('is not called for small talk', async () => {
    const failingEmbedder = { model: 'none', dimensions: 1, embed: () => Promise.reject(new Error('secret')) };
    expect((await collectReply(createDemoWith(failingEmbedder), toAttempt('hello'))).content).toContain('Hello');
  });
});
