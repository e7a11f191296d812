import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Frame } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { collectChunks, fold, tool } from '#test/run-loop.ts';
import { answers, calls, ends, messageChunk, scriptedModel, used } from '#test/scripted-model.ts';

const weather = tool('get_weather', ({ city }) => `Rain in ${city}`, {
  type: 'object',
  properties: { city: { type: 'string' } },
});
const time = tool('get_time', () => 'noon');

describe('runLoop', () => {
  it('sends the tool results to the model in the order of the calls, and only those', async () => {
    const model = scriptedModel(calls(['get_weather', { city: 'Oslo' }], ['get_time', {}]), answers('Take a coat.'));
    await collectChunks({ sendRequest: model.sendRequest, tools: [weather, time] });
    const definitions = [
      { type: 'function', function: { name: 'get_weather', description: 'Does get_weather.', parameters: weather.parameters } },
      { type: 'function', function: { name: 'get_time', description: 'Does get_time.', parameters: { type: 'object' } } },
    ];
    expect(model.requests).toEqual([
      { messages: [{ role: 'user', content: 'Hello' }], tools: definitions },
      {
        messages: [
          { role: 'user', content: 'Hello' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'id_get_weather_0', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
              { id: 'id_get_time_1', type: 'function', function: { name: 'get_time', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'id_get_weather_0', content: 'Rain in Oslo' },
          { role: 'tool', tool_call_id: 'id_get_time_1', content: 'noon' },
        ],
        tools: definitions,
      },
    ]);
  });

  it('sends the role first, then a stage per tool run, the text, one finish reason, usage, and statistics', async () => {
    const model = scriptedModel(
      [...calls(['get_weather', { city: 'Oslo' }]), used(10, 2)],
      [...answers('Take a coat.'), used(20, 4)],
    );
    const head = { id: 'reply-1', object: 'chat.completion.chunk', created: 5, model: 'chat-model' };
    const delta = (value: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta: value, finish_reason }],
    });
    const opened = '**Arguments**\n\n```json\n{\n  "city": "Oslo"\n}\n```\n\n';
    expect(await collectChunks({ sendRequest: model.sendRequest, tools: [weather] })).toEqual([
      delta({ role: 'assistant' }),
      delta({ custom_content: { stages: [{ index: 0, name: 'get_weather', content: opened, status: null }] } }),
      delta({
        custom_content: {
          stages: [{ index: 0, content: '**Result**\n\n```\nRain in Oslo\n```\n\n_0.00 s_\n', status: 'completed' }],
        },
      }),
      delta({ content: 'Take a coat.' }),
      delta({}, 'stop'),
      {
        ...head,
        choices: [],
        usage: { prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 },
        statistics: {
          usage_per_model: [
            { index: 0, model: 'chat-model', name: 'chat-model', prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 },
          ],
        },
      },
    ]);
  });

  it('joins streamed arguments and returns further fields of the call to the upstream', async () => {
    const model = scriptedModel(
      [
        messageChunk({ reasoning_content: 'Let me ' }),
        messageChunk({
          reasoning_content: 'look.',
          tool_calls: [{ index: 3, id: 'a', function: { name: 'get_weather', arguments: '{"ci' } }],
        }),
        messageChunk({
          tool_calls: [{ index: 3, function: { arguments: 'ty":"Rome"}' }, extra_content: { signature: 's' } } as never],
        }),
        ends('stop'),
      ],
      answers('Dry.'),
    );
    const { content } = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [weather] }));
    expect(content).toBe('Dry.');
    expect(model.requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'Let me look.',
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
          extra_content: { signature: 's' },
        },
      ],
    });
  });

  it('accepts a complete reply', async () => {
    const createCompletion = (message: object, finish_reason: 'tool_calls' | 'stop') =>
      Frame.ofCompletion({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    const call = (id: string) => ({ id, type: 'function', function: { name: 'get_time', arguments: '{}' } });
    const replies = [
      createCompletion({ tool_calls: [call('a'), call('b')] }, 'tool_calls'),
      createCompletion({ content: 'Noon.' }, 'stop'),
    ];
    const requests: ChatRequest[] = [];
    async function* sendRequest(request: ChatRequest) {
      requests.push(request);
      yield replies[requests.length - 1] ?? createCompletion({}, 'stop');
    }
    const chunks = await collectChunks({ sendRequest, tools: [time] });
    expect(requests[1]?.messages.slice(2).map((message) => message.tool_call_id)).toEqual(['a', 'b']);
    expect(fold(chunks)).toMatchObject({ content: 'Noon.', finishReasons: ['stop'] });
    expect(chunks.at(-1)?.usage?.total_tokens).toBe(4);
  });

  it('separates the texts before and after a tool run', async () => {
    const model = scriptedModel(
      [messageChunk({ content: 'I look.' }), ...calls(['get_time', {}])],
      [messageChunk({ content: 'It is ' }), messageChunk({ content: 'noon.' }), ends('stop')],
    );
    expect(fold(await collectChunks({ sendRequest: model.sendRequest, tools: [time] })).content).toBe('I look.\n\nIt is noon.');
    expect(model.requests[1]?.messages[1]?.content).toBe('I look.');
  });

  it('runs the tools of one reply concurrently', async () => {
    let running = 0;
    let maxRunning = 0;
    const slow = tool('slow', async () => {
      maxRunning = Math.max(maxRunning, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return 'ok';
    });
    const model = scriptedModel(calls(['slow', {}], ['slow', {}], ['slow', {}]), answers('Done.'));
    await collectChunks({ sendRequest: model.sendRequest, tools: [slow] });
    expect(maxRunning).toBe(3);
  });

  it('forwards stages, attachments, and controls of the model with indexes of the complete reply', async () => {
    const inner = messageChunk({
      custom_content: { stages: [{ index: 0, name: 'Think', status: null }], attachments: [{ index: 0, title: 'A', data: 'a' }] },
    });
    const closing = messageChunk({
      custom_content: { stages: [{ index: 0, status: 'completed' }], controls: [{ index: 7, label: 'Yes' }] },
    });
    const model = scriptedModel([inner, closing, ...calls(['get_time', {}])], [inner, closing, ...answers('Done.')]);
    const chunks = await collectChunks({ sendRequest: model.sendRequest, tools: [time] });
    const { stages, attachments } = fold(chunks);
    expect(stages.map(({ index, name, status }) => [index, name, status])).toEqual([
      [0, 'Think', 'completed'],
      [1, 'get_time', 'completed'],
      [2, 'Think', 'completed'],
    ]);
    expect(attachments.map(({ index }) => index)).toEqual([0, 1]);
    const controls = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.custom_content?.controls ?? []));
    expect(controls.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('sums the usage of all model requests and tools per model', async () => {
    const callingTool = tool('ask_other', async (_args, { report }) => {
      const usage = [{ index: 0, model: 'other', name: 'other', prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }];
      await report({ content: 'half way', stages: [{ index: 0, name: 'Inner', status: null }], usage });
      return 'told';
    });
    const statistics = {
      usage_per_model: [{ index: 0, model: 'm', name: 'm', prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }],
    };
    const model = scriptedModel([...calls(['ask_other', {}]), { statistics }, used(1, 1)], [...answers('Done.'), { statistics }]);
    const chunks = await collectChunks({ sendRequest: model.sendRequest, tools: [callingTool] });
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    expect(chunks.at(-1)?.statistics?.usage_per_model.map(({ model: name, total_tokens }) => [name, total_tokens])).toEqual([
      ['m', 4],
      ['other', 6],
    ]);
    const { stages } = fold(chunks);
    expect(stages.map(({ name }) => name)).toEqual(['ask_other', 'Inner']);
    expect(stages[0]?.content).toContain('half way');
  });
});

describe('runLoop, at the end of a run', () => {
  it('sends the fifteenth model request without tools', async () => {
    const model = scriptedModel(...Array.from({ length: 14 }, () => calls(['get_time', {}])), answers('It is noon.'));
    const folded = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [time] }));
    expect(model.requests).toHaveLength(15);
    expect(model.requests.slice(0, 14).every((request) => (request.tools as unknown[]).length === 1)).toBe(true);
    expect(model.requests[14]).not.toHaveProperty('tools');
    expect(model.requests[14]?.messages.at(-1)?.content).toBe(
      'noon\n\n[You cannot call more tools in this run. Answer now with the information that you have.]',
    );
    expect(model.requests[13]?.messages.at(-1)?.content).toBe('noon');
    expect(folded).toMatchObject({ content: 'It is noon.', finishReasons: ['stop'] });
    expect(folded.stages).toHaveLength(14);
  });

  it('sends an answer even if the model keeps calling tools', async () => {
    const model = scriptedModel(calls(['get_time', {}]));
    const folded = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [time], maxTurns: 3 }));
    expect(model.requests).toHaveLength(3);
    expect(folded).toMatchObject({
      content: 'The run ended after 3 calls of the model without an answer.',
      finishReasons: ['stop'],
    });
    expect(folded.stages).toHaveLength(2);
  });

  it.each(['length', 'content_filter'] as const)('keeps the reason %s and does not run incomplete calls', async (reason) => {
    let ran = false;
    const model = scriptedModel([
      messageChunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'delete', arguments: '{"all":true}' } }] }),
      ends(reason),
    ]);
    const remove = tool('delete', () => {
      ran = true;
      return 'gone';
    });
    const folded = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [remove] }));
    expect(folded).toMatchObject({ stages: [], finishReasons: [reason] });
    expect(ran).toBe(false);
  });

  it('sends the state that buildState returns', async () => {
    const model = scriptedModel(calls(['get_time', {}]), answers('Noon.'));
    const chunks = await collectChunks({
      sendRequest: model.sendRequest,
      tools: [time],
      buildState: ({ added }) => ({ roles: added.map(({ role }) => role) }),
    });
    expect(chunks.at(-2)?.choices[0]?.delta).toEqual({ custom_content: { state: { roles: ['assistant', 'tool'] } } });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it("rethrows the model's error unchanged", async () => {
    const error = new ParleyError('upstream_failed', 'It broke off.');
    const model = scriptedModel(calls(['get_time', {}]), [messageChunk({ content: 'It is' }), error]);
    await expect(collectChunks({ sendRequest: model.sendRequest, tools: [time] })).rejects.toBe(error);
  });

  it('sends no chunk if the model rejects the first request', async () => {
    const error = new ParleyError('invalid_request', 'No.');
    const received: unknown[] = [];
    const missing = [{ name: 'Weather', reason: 'The document cannot be loaded.' }];
    const options = { sendRequest: scriptedModel([error]).sendRequest, tools: [], missing };
    await expect(collectChunks(options).then((chunks) => received.push(...chunks))).rejects.toBe(error);
    expect(received).toEqual([]);
  });
});
