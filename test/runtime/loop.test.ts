import { describe, expect, it } from 'vitest';
import { ParleyError } from '#contract/errors.ts';
import { ToolFault } from '#domain/tool.ts';
import { answers, calls, ends, says, scriptedModel, used } from '#test/scripted-model.ts';
import { chunksOf, fold, tool } from './support.ts';

const weather = tool('get_weather', ({ city }) => `Rain in ${city}`, {
  type: 'object',
  properties: { city: { type: 'string' } },
});
const time = tool('get_time', () => 'noon');

describe('a run with tools', () => {
  it('tells the model what its tools gave, in the order asked, and nothing else', async () => {
    const model = scriptedModel(calls(['get_weather', { city: 'Oslo' }], ['get_time', {}]), answers('Take a coat.'));
    await chunksOf({ ask: model.ask, tools: [weather, time] });
    const offered = [
      { type: 'function', function: { name: 'get_weather', description: 'Does get_weather.', parameters: weather.parameters } },
      { type: 'function', function: { name: 'get_time', description: 'Does get_time.', parameters: { type: 'object' } } },
    ];
    expect(model.asked).toEqual([
      { messages: [{ role: 'user', content: 'Hello' }], tools: offered },
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
        tools: offered,
      },
    ]);
  });

  it('answers with the role first, the stage of each run, the text, one finish reason, usage and statistics', async () => {
    const model = scriptedModel(
      [...calls(['get_weather', { city: 'Oslo' }]), used(10, 2)],
      [...answers('Take a coat.'), used(20, 4)],
    );
    const head = { id: 'reply-1', object: 'chat.completion.chunk', created: 5 };
    const delta = (value: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta: value, finish_reason }],
    });
    const opened = '**Arguments**\n\n```json\n{\n  "city": "Oslo"\n}\n```\n\n';
    expect(await chunksOf({ ask: model.ask, tools: [weather] })).toEqual([
      delta({ role: 'assistant' }),
      delta({ custom_content: { stages: [{ index: 0, name: 'get_weather', content: opened, status: null }] } }),
      delta({
        custom_content: {
          stages: [{ index: 0, content: '**Result**\n\n```\nRain in Oslo\n```\n\n_0.00 s_\n', status: 'completed' }],
        },
      }),
      delta({ content: 'Take a coat.' }),
      delta({}, 'stop'),
      { ...head, choices: [], usage: { prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 } },
      {
        ...head,
        choices: [],
        statistics: {
          usage_per_model: [
            { index: 0, model: 'chat-model', name: 'chat-model', prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 },
          ],
        },
      },
    ]);
  });

  it('puts arguments together that came in pieces and gives back what else the upstream said of the call', async () => {
    const model = scriptedModel(
      [
        says({ reasoning_content: 'Let me ' }),
        says({
          reasoning_content: 'look.',
          tool_calls: [{ index: 3, id: 'a', function: { name: 'get_weather', arguments: '{"ci' } }],
        }),
        says({ tool_calls: [{ index: 3, function: { arguments: 'ty":"Rome"}' }, extra_content: { signature: 's' } } as never] }),
        ends('stop'),
      ],
      answers('Dry.'),
    );
    const { content } = fold(await chunksOf({ ask: model.ask, tools: [weather] }));
    expect(content).toBe('Dry.');
    expect(model.asked[1]?.messages[1]).toEqual({
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

  it('gives calls without an id, or with one that another has, an id of their own', async () => {
    const call = (index: number, id?: string) => ({ index, ...(id && { id }), function: { name: 'get_time', arguments: '' } });
    const model = scriptedModel(
      [says({ tool_calls: [call(0, 'x'), call(1, 'x'), call(2)] }), ends('tool_calls')],
      answers('Done.'),
    );
    await chunksOf({ ask: model.ask, tools: [time] });
    const answered = model.asked[1]?.messages.slice(2).map((message) => message.tool_call_id);
    expect(answered).toEqual(['x', 'call_1_1', 'call_1_2']);
  });

  it('separates what the model says before and after a tool run', async () => {
    const model = scriptedModel(
      [says({ content: 'I look.' }), ...calls(['get_time', {}])],
      [says({ content: 'It is ' }), says({ content: 'noon.' }), ends('stop')],
    );
    expect(fold(await chunksOf({ ask: model.ask, tools: [time] })).content).toBe('I look.\n\nIt is noon.');
    expect(model.asked[1]?.messages[1]?.content).toBe('I look.');
  });

  it('runs the tools of one reply at the same time', async () => {
    let running = 0;
    let most = 0;
    const slow = tool('slow', async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return 'ok';
    });
    const model = scriptedModel(calls(['slow', {}], ['slow', {}], ['slow', {}]), answers('Done.'));
    await chunksOf({ ask: model.ask, tools: [slow] });
    expect(most).toBe(3);
  });

  it('passes on stages, attachments and controls of the model with indices of the whole reply', async () => {
    const inner = says({
      custom_content: { stages: [{ index: 0, name: 'Think', status: null }], attachments: [{ index: 0, title: 'A', data: 'a' }] },
    });
    const closing = says({
      custom_content: { stages: [{ index: 0, status: 'completed' }], controls: [{ index: 7, label: 'Yes' }] },
    });
    const model = scriptedModel([inner, closing, ...calls(['get_time', {}])], [inner, closing, ...answers('Done.')]);
    const chunks = await chunksOf({ ask: model.ask, tools: [time] });
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

  it('sums the usage of all model calls and of what the tools report, a model each', async () => {
    const asking = tool('ask_other', async (_args, { report }) => {
      const usage = [{ index: 0, model: 'other', name: 'other', prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }];
      await report({ content: 'half way', stages: [{ index: 0, name: 'Inner', status: null }], usage });
      return 'told';
    });
    const statistics = {
      usage_per_model: [{ index: 0, model: 'm', name: 'm', prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }],
    };
    const model = scriptedModel([...calls(['ask_other', {}]), { statistics }, used(1, 1)], [...answers('Done.'), { statistics }]);
    const chunks = await chunksOf({ ask: model.ask, tools: [asking] });
    expect(chunks.at(-2)?.usage).toEqual({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    expect(chunks.at(-1)?.statistics?.usage_per_model.map(({ model: name, total_tokens }) => [name, total_tokens])).toEqual([
      ['m', 4],
      ['other', 6],
    ]);
    const { stages } = fold(chunks);
    expect(stages.map(({ name }) => name)).toEqual(['ask_other', 'Inner']);
    expect(stages[0]?.content).toContain('half way');
  });
});

describe('tools that fail', () => {
  it.each([
    ['an unknown tool', 'nothing', {}, 'There is no tool named nothing.'],
    ['arguments that are no JSON', 'get_time', '{"a":', 'The arguments are not a JSON object; call the tool again with one.'],
    ['arguments that are no object', 'get_time', '[1]', 'The arguments are not a JSON object; call the tool again with one.'],
    [
      'arguments with a forbidden key',
      'get_time',
      '{"__proto__":{}}',
      'The arguments are not a JSON object; call the tool again with one.',
    ],
    ['a fault that may be told', 'told', {}, 'The tool failed: no such city'],
    ['a fault that may not be told', 'secret', {}, 'The tool failed.'],
    ['a tool that throws at once', 'sync', {}, 'The tool failed: at once'],
    ['a result that says so', 'says', {}, 'HTTP 404'],
  ])('tell the model of %s and go on', async (_what, name, args, told) => {
    const faults: string[] = [];
    const tools = [
      time,
      tool('told', () => Promise.reject(new ToolFault('no such city'))),
      tool('secret', () => Promise.reject(new Error('password=hunter2'))),
      {
        ...time,
        name: 'sync',
        run: () => {
          throw new ToolFault('at once');
        },
      },
      tool('says', () => ({ text: 'HTTP 404', attachments: [], failed: true })),
    ];
    const model = scriptedModel(calls([name, args]), answers('Sorry.'));
    const chunks = await chunksOf({ ask: model.ask, tools, onToolFault: (tool) => faults.push(tool) });
    expect(model.asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: told });
    expect(fold(chunks)).toMatchObject({
      content: 'Sorry.',
      stages: [{ index: 0, name, status: 'failed' }],
      finishReasons: ['stop'],
    });
    expect(JSON.stringify(chunks)).not.toContain('hunter2');
    expect(faults).toEqual(name === 'secret' ? ['secret'] : []);
  });

  it('are stopped when their time is over, which the model is told', async () => {
    let stopped = false;
    const deaf = tool('deaf', (_args, { signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise(() => undefined);
    });
    const model = scriptedModel(calls(['deaf', {}], ['get_time', {}]), answers('Sorry.'));
    const { stages } = fold(await chunksOf({ ask: model.ask, tools: [deaf, time], timeoutMs: 30 }));
    expect(model.asked[1]?.messages.at(-2)?.content).toBe('The tool was stopped: it took longer than 0.03 s.');
    expect(stages.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(stopped).toBe(true);
  });
});

describe('results', () => {
  it('that are too long are cut for the model, whole in an attachment of the stage', async () => {
    const long = 'é'.repeat(30_000);
    const model = scriptedModel(calls(['long', {}]), answers('Done.'));
    const { stages, attachments } = fold(await chunksOf({ ask: model.ask, tools: [tool('long', () => long)] }));
    const told = model.asked[1]?.messages.at(-1)?.content as string;
    expect(told).toBe(`${'é'.repeat(20_000)}\n\n[Cut here: the result has 60000 bytes, of which these are the first 40000.]`);
    expect(stages[0]?.attachments).toEqual([{ index: 0, title: 'Whole result', type: 'text/plain', data: long }]);
    expect(attachments).toEqual([]);
  });

  it('are cut between characters', async () => {
    const model = scriptedModel(calls(['long', {}]), answers('Done.'));
    await chunksOf({ ask: model.ask, tools: [tool('long', () => '😀😀')], maxResultBytes: 6 });
    expect(model.asked[1]?.messages.at(-1)?.content).toMatch(/^😀\n\n\[Cut/);
  });

  it('have their attachments in the stage and in the reply, each with its own indices', async () => {
    const chart = tool('chart', () => ({ text: 'Drawn.', attachments: [{ type: 'image/png', data: 'aGk=' }], failed: false }));
    const model = scriptedModel(calls(['chart', {}], ['chart', {}]), answers('Done.'));
    const { stages, attachments } = fold(await chunksOf({ ask: model.ask, tools: [chart] }));
    expect(stages.map((stage) => stage.attachments)).toEqual([
      [{ index: 0, type: 'image/png', data: 'aGk=' }],
      [{ index: 0, type: 'image/png', data: 'aGk=' }],
    ]);
    expect(attachments.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('cannot end the code block they are shown in', async () => {
    const model = scriptedModel(calls(['fence', {}]), answers('Done.'));
    const { stages } = fold(await chunksOf({ ask: model.ask, tools: [tool('fence', () => 'a\n````\n# b')] }));
    expect(stages[0]?.content).toContain('`````\na\n````\n# b\n`````');
  });
});

describe('the end of a run', () => {
  it('comes with the fifteenth call of the model, which has no tools', async () => {
    const model = scriptedModel(...Array.from({ length: 14 }, () => calls(['get_time', {}])), answers('It is noon.'));
    const folded = fold(await chunksOf({ ask: model.ask, tools: [time] }));
    expect(model.asked).toHaveLength(15);
    expect(model.asked.slice(0, 14).every((request) => (request.tools as unknown[]).length === 1)).toBe(true);
    expect(model.asked[14]).not.toHaveProperty('tools');
    expect(model.asked[14]?.messages.at(-1)?.content).toBe(
      'noon\n\n[No more tools can be called in this run: answer now with what is known.]',
    );
    expect(model.asked[13]?.messages.at(-1)?.content).toBe('noon');
    expect(folded).toMatchObject({ content: 'It is noon.', finishReasons: ['stop'] });
    expect(folded.stages).toHaveLength(14);
  });

  it('has an answer even where the model goes on calling', async () => {
    const model = scriptedModel(calls(['get_time', {}]));
    const folded = fold(await chunksOf({ ask: model.ask, tools: [time], maxTurns: 3 }));
    expect(model.asked).toHaveLength(3);
    expect(folded).toMatchObject({
      content: 'The run ended after 3 calls of the model without an answer.',
      finishReasons: ['stop'],
    });
    expect(folded.stages).toHaveLength(2);
  });

  it.each(['length', 'content_filter'] as const)('keeps the reason %s and does not run half of a call', async (reason) => {
    let ran = false;
    const model = scriptedModel([
      says({ tool_calls: [{ index: 0, id: 'a', function: { name: 'delete', arguments: '{"all":true}' } }] }),
      ends(reason),
    ]);
    const remove = tool('delete', () => {
      ran = true;
      return 'gone';
    });
    const folded = fold(await chunksOf({ ask: model.ask, tools: [remove] }));
    expect(folded).toMatchObject({ stages: [], finishReasons: [reason] });
    expect(ran).toBe(false);
  });

  it('gives the state that is made from what the run added', async () => {
    const model = scriptedModel(calls(['get_time', {}]), answers('Noon.'));
    const chunks = await chunksOf({
      ask: model.ask,
      tools: [time],
      toState: (added) => ({ roles: added.map(({ role }) => role) }),
    });
    expect(chunks.at(-2)?.choices[0]?.delta).toEqual({ custom_content: { state: { roles: ['assistant', 'tool'] } } });
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('is the fault of the model, as it was thrown', async () => {
    const fault = new ParleyError('upstream_failed', 'It broke off.');
    const model = scriptedModel(calls(['get_time', {}]), [says({ content: 'It is' }), fault]);
    await expect(chunksOf({ ask: model.ask, tools: [time] })).rejects.toBe(fault);
  });

  it('comes before any chunk where the model refuses the first call', async () => {
    const fault = new ParleyError('invalid_request', 'No.');
    const seen: unknown[] = [];
    const missing = [{ name: 'Weather', reason: 'The document cannot be loaded.' }];
    const options = { ask: scriptedModel([fault]).ask, tools: [], missing };
    await expect(chunksOf(options).then((chunks) => seen.push(...chunks))).rejects.toBe(fault);
    expect(seen).toEqual([]);
  });
});

describe('what the caller asked', () => {
  const namesOf = (tools: unknown) => (tools as (typeof own)[]).map((offered) => offered.function.name);
  const own = { type: 'function', function: { name: 'open_door', parameters: { type: 'object' } } };
  const request = {
    messages: [{ role: 'user' as const, content: 'Hello' }],
    tools: [own],
    n: 2,
    addons: [{ name: 'weather' }],
    temperature: 0,
  };

  it('goes to the model with the tools of both, without addons and n', async () => {
    const model = scriptedModel(answers('Hi.'));
    await chunksOf({
      ask: model.ask,
      tools: [time],
      request: { ...request, tool_choice: 'required', parallel_tool_calls: false },
    });
    const { tools, ...rest } = { ...model.asked[0] };
    expect(namesOf(tools)).toEqual(['open_door', 'get_time']);
    expect(rest).toEqual({ messages: request.messages, temperature: 0, tool_choice: 'required', parallel_tool_calls: false });
  });

  it('forces a tool in the first turn only', async () => {
    const model = scriptedModel(calls(['get_time', {}]), answers('Noon.'));
    await chunksOf({ ask: model.ask, tools: [time], request: { ...request, tool_choice: 'required' } });
    expect(model.asked.map((asked) => asked.tool_choice)).toEqual(['required', undefined]);
  });

  it('stops the run with the calls of its own tools', async () => {
    const model = scriptedModel(calls(['open_door', { key: 1 }]));
    const chunks = await chunksOf({ ask: model.ask, tools: [time], request });
    expect(chunks.at(-2)?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: 'id_open_door_0', type: 'function', function: { name: 'open_door', arguments: '{"key":1}' } },
    ]);
    expect(fold(chunks)).toMatchObject({ finishReasons: ['tool_calls'], stages: [] });
    expect(model.asked).toHaveLength(1);
  });

  it('runs the service’s tools of a mixed reply first', async () => {
    const model = scriptedModel(calls(['open_door', {}], ['get_time', {}]));
    const chunks = await chunksOf({ ask: model.ask, tools: [time], request });
    expect(fold(chunks).stages).toMatchObject([{ name: 'get_time', status: 'completed' }]);
    expect(chunks.at(-2)?.choices[0]?.delta.tool_calls).toMatchObject([{ index: 0, function: { name: 'open_door' } }]);
    expect(fold(chunks).finishReasons).toEqual(['tool_calls']);
  });

  it('keeps its tool’s name where one of the service has the same', async () => {
    const model = scriptedModel(answers('Hi.'));
    await chunksOf({ ask: model.ask, tools: [tool('open_door', () => 'x')], request });
    expect(namesOf(model.asked[0]?.tools)).toEqual(['open_door', expect.stringMatching(/^open_door_[0-9a-f]{8}$/)]);
  });
});

describe('toolsets that are missing', () => {
  it('are failed stages before the answer', async () => {
    const missing = [{ name: 'Weather', reason: 'The document cannot be loaded.' }];
    const chunks = await chunksOf({ ask: scriptedModel(answers('Hi.')).ask, tools: [], missing });
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant' });
    expect(fold(chunks)).toMatchObject({
      content: 'Hi.',
      stages: [{ index: 0, name: 'Weather', content: 'The document cannot be loaded.', status: 'failed' }],
    });
  });
});
