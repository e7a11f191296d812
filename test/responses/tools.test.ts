import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chunk, delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { post, type ResponseEvent, readEvents, readResponse, requireOrder } from './support.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }], maxRetryAttempts: 1 } },
    applications: { app: { endpoint: `${upstream.endpoint}/chat/completions` } },
    keys: { [callerKey]: { project: 'p' }, other: { project: 'q' } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

async function readLastBody(): Promise<Record<string, unknown>> {
  return (await upstream.request(upstream.requests.length - 1)).body;
}

function listItems(events: readonly ResponseEvent[]): Record<string, unknown>[] {
  return (events.at(-1) as unknown as { response: { output: Record<string, unknown>[] } }).response.output;
}

const call = (index: number, id: string, name: string, args: string) =>
  delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const more = (index: number, args: string) => delta({ tool_calls: [{ index, function: { arguments: args } }] });

const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
};
const crm = {
  type: 'namespace',
  name: 'mcp__crm__',
  description: 'Customers',
  tools: [
    { type: 'function', name: 'find', parameters: { type: 'object' } },
    { type: 'custom', name: 'raw' },
  ],
};

const lookUp = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };

describe('tools of a response', () => {
  it('of the type custom become functions with one string, and are returned with their own type', async () => {
    upstream.script(
      eventsReply(
        call(0, 'call_1', 'apply_patch', ''),
        more(0, '{"input":"*** Begin'),
        more(0, ' \\"x\\""}'),
        finish('tool_calls'),
      ),
    );
    const events = await readEvents(service, { model: 'm', input: 'Edit', tools: [patch] });
    const { tools } = (await readLastBody()) as {
      tools: { function: { name: string; description: string; parameters: object } }[];
    };
    expect(tools[0]?.function.name).toBe('apply_patch');
    expect(tools[0]?.function.description).toContain('start: "x"');
    expect(tools[0]?.function.parameters).toMatchObject({ required: ['input'] });
    expect(listItems(events)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** Begin "x"', status: 'completed' },
    ]);
    expect(events.filter(({ type }) => type.startsWith('response.custom')).map(({ type }) => type)).toEqual([
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
    ]);
    upstream.script(eventsReply(...plainReply('Done')));
    const input = [
      ...listItems(events),
      { type: 'custom_tool_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'fine' }] },
    ];
    readResponse(await post(service, { model: 'm', input, tools: [patch] }));
    expect((await readLastBody()).messages).toMatchObject([
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', function: { name: 'apply_patch', arguments: '{"input":"*** Begin \\"x\\""}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'fine' },
    ]);
  });

  it('of a namespace are flattened, and are returned with namespace and name', async () => {
    upstream.script(
      eventsReply(call(0, 'a', 'mcp__crm__find', '{}'), call(1, 'b', 'mcp__crm__raw', '{"input":"x"}'), finish('tool_calls')),
    );
    const long = { ...crm, name: 'n'.repeat(60), tools: [{ type: 'function', name: 'also_long' }] };
    const twin = { type: 'function', name: 'mcp__crm__find' };
    const events = await readEvents(service, { model: 'm', input: 'Find', tools: [crm, long, twin] });
    const { tools } = (await readLastBody()) as { tools: { function: { name: string } }[] };
    const names = tools.map((tool) => tool.function.name);
    expect(new Set(names).size).toBe(4);
    expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    expect(listItems(events)).toMatchObject([
      { type: 'function_call', namespace: 'mcp__crm__', name: 'find' },
      { type: 'custom_tool_call', namespace: 'mcp__crm__', name: 'raw', input: 'x' },
    ]);
    upstream.script(eventsReply(...plainReply('Done')));
    const outputs = ['a', 'b'].map((call_id, index) => ({
      type: ['function_call_output', 'custom_tool_call_output'][index],
      call_id,
      output: 'ok',
    }));
    readResponse(await post(service, { model: 'm', input: [...listItems(events), ...outputs], tools: [crm] }));
    expect((await readLastBody()).messages).toMatchObject([
      { tool_calls: [{ function: { name: 'mcp__crm__find' } }, { function: { name: 'mcp__crm__raw' } }] },
      { tool_call_id: 'a' },
      { tool_call_id: 'b' },
    ]);
  });

  it('can be in the input', async () => {
    upstream.script(eventsReply(...plainReply('Hi')));
    const tools = [{ type: 'function', name: 'late', parameters: { type: 'object' } }];
    const input = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'Hi' },
    ];
    readResponse(await post(service, { model: 'm', input, tool_choice: { type: 'function', name: 'late' } }));
    expect(await readLastBody()).toMatchObject({
      tools: [{ function: { name: 'late' } }],
      tool_choice: { function: { name: 'late' } },
    });
  });

  it('are offered only if they are allowed', async () => {
    upstream.script(eventsReply(...plainReply('Hi')));
    const tools = ['one', 'two'].map((name) => ({ type: 'function', name }));
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'two' }] };
    readResponse(await post(service, { model: 'm', input: 'Hi', tools, tool_choice }));
    const body = (await readLastBody()) as { tools: { function: { name: string } }[]; tool_choice: string };
    expect([body.tools.map((tool) => tool.function.name), body.tool_choice]).toEqual([['two'], 'required']);
  });

  it('with interleaved arguments are returned in order, each complete', async () => {
    upstream.script(
      eventsReply(call(0, 'a', 'f', '{"x"'), call(1, 'b', 'g', '{"y"'), more(0, ':1}'), more(1, ':2}'), finish('tool_calls')),
    );
    const events = await readEvents(service, { model: 'm', input: 'Both' });
    expect(listItems(events)).toMatchObject([{ arguments: '{"x":1}' }, { arguments: '{"y":2}' }]);
  });

  it('that the deployment cannot run are omitted and listed in Parley-Ignored', async () => {
    upstream.script(eventsReply(...plainReply('Hi')));
    const tools = [{ type: 'web_search' }, { type: 'tool_search' }, { type: 'function', name: 'f' }];
    const body = { model: 'm', input: 'Hi', tools, client_metadata: { a: 'b' }, include: ['web_search_call.results'] };
    const { headers, text: answer } = await post(service, body);
    expect(headers['parley-ignored']).toBe(
      'tools.web_search, tools.tool_search, client_metadata, include.web_search_call.results',
    );
    expect(JSON.parse(answer).tools).toHaveLength(3);
  });

  it.each([
    [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
    [{ tools: [{ type: 'nonsense' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [
      {
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'f' },
        ],
      },
      'tools[1].name',
    ],
    [{ tools: [{ ...crm, tools: [{ type: 'namespace', name: 'x', tools: [] }] }] }, 'tools[0].tools[0].type'],
    [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name'],
    [{ input: [{ type: 'nonsense' }] }, 'input[0].type'],
    [{ input: [{ type: 'web_search_call', id: 'ws' }] }, 'input[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'nonsense' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'x' }] }] }, 'input[0].content[0].file_id'],
    [{ input: [{ role: 'critic', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input[0].call_id'],
    [{ input: [lookUp, lookUp, { type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input[0].call_id'],
    [{ input: [lookUp, { type: 'custom_tool_call_output', call_id: 'c', output: 'x' }] }, 'input[1].call_id'],
    [{ tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark' } }] }, 'tools[0].format.definition'],
    [{ input: [{ id: 'msg_1' }] }, 'input[0].id'],
    [{ input: [{ type: 'parley:state', state: {} }] }, 'input[0].type'],
    [{ input: [] }, 'input'],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.name'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, nth) => [`k${nth}`, ''])) }, 'metadata'],
  ])('and other fields that are invalid are rejected with their path: %j', async (body, param) => {
    const { status, text: answer } = await post(service, { model: 'm', input: 'Hi', ...body });
    expect([status, JSON.parse(answer).error.param], answer).toEqual([400, param]);
    expect(answer).not.toContain('undefined');
  });

  it('are rejected if the deployment does not exist', async () => {
    const { status, text: answer } = await post(service, { model: 'gone', input: 'Hi' });
    expect([status, JSON.parse(answer).error.code]).toEqual([404, 'model_not_found']);
  });
});

describe('response that ends early', () => {
  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('is incomplete with the reason (%s)', async (reason, expectedReason) => {
    upstream.script(eventsReply(text('Half'), finish(reason), usage(3, 2)));
    const events = await readEvents(service, { model: 'm', input: 'Hi' });
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: expectedReason },
        completed_at: null,
        usage: { total_tokens: 5 },
      },
    });
    expect(listItems(events)).toMatchObject([{ status: 'incomplete', content: [{ text: 'Half' }] }]);
  });

  it('contains a refusal of the model', async () => {
    upstream.script(eventsReply(delta({ refusal: 'I will ' }), delta({ refusal: 'not.' }), finish('stop')));
    const events = await readEvents(service, { model: 'm', input: 'Hi' });
    expect(listItems(events)).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I will not.' }] }]);
    expect(events.map(({ type }) => type)).toContain('response.refusal.done');
  });

  it('has an error event in a started stream, and is marked as failed', async () => {
    upstream.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.events(call(0, 'a', 'f', '{"x":'));
      exchange.destroyConnection();
    });
    const { status, text: bytes } = await post(service, { model: 'm', input: 'Hi', stream: true });
    expect(status).toBe(200);
    const events = requireOrder(bytes);
    expect(events.at(-2)).toMatchObject({
      type: 'error',
      code: 'upstream_failed',
      param: null,
      error: { type: 'upstream_error', code: 'upstream_failed', param: null, message: expect.any(String) },
    });
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    });
    expect(listItems(events)).toMatchObject([{ status: 'incomplete', arguments: '{"x":' }]);
    expect(events.map(({ type }) => type)).not.toContain('response.output_item.done');
  });

  it('with an incomplete call is an upstream failure', async () => {
    upstream.script(eventsReply(call(0, 'a', 'f', '{"x":'), finish('tool_calls')));
    const { status, text: answer } = await post(service, { model: 'm', input: 'Hi' });
    expect([status, JSON.parse(answer).error.code]).toEqual([500, 'upstream_failed']);
  });
});

describe('extension items of a response', () => {
  const custom = (custom_content: object) => delta({ custom_content });
  const createReply = () =>
    eventsReply(
      custom({ stages: [{ index: 0, name: 'Look', status: null }] }),
      custom({ stages: [{ index: 0, content: 'found', status: 'completed' }] }),
      text('So it is [1], and `[2]` is code. So [2].'),
      custom({ attachments: [{ index: 0, type: 'text/plain', title: 'One', data: 'a', reference_url: 'https://one.example' }] }),
      custom({ attachments: [{ index: 1, title: 'Two', data: 'b', reference_url: 'https://two.example' }] }),
      custom({ controls: [{ index: 0, label: 'Yes', schema: { type: 'object' } }], state: { kept: 1 } }),
      finish(),
      chunk({ usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    );

  it('are returned on request', async () => {
    upstream.script(createReply());
    const include = ['parley:stages', 'parley:attachments', 'parley:controls', 'parley:statistics'];
    const events = await readEvents(service, { model: 'app', input: 'Show', include });
    const items = listItems(events);
    expect(items.map(({ type }) => type)).toEqual([
      'parley:stage',
      'message',
      'parley:attachment',
      'parley:attachment',
      'parley:control',
      'reasoning',
    ]);
    expect(items[0]).toMatchObject({ name: 'Look', content: 'found', status: 'completed' });
    expect(items[2]).toMatchObject({ content_type: 'text/plain', title: 'One', data: 'a' });
    expect(items[4]).toMatchObject({ label: 'Yes', schema: { type: 'object' } });
    expect(events.at(-1)).toMatchObject({ response: { parley: { statistics: { usage_per_model: expect.any(Array) } } } });
  });

  it('are omitted without a request, except citations at their exact positions', async () => {
    upstream.script(createReply());
    const response = readResponse(await post(service, { model: 'app', input: 'Show' }));
    expect(response.output.map(({ type }: ResponseEvent) => type)).toEqual(['message', 'reasoning']);
    const [{ text: said, annotations }] = response.output[0].content;
    expect(annotations.map(({ url }: { url: string }) => url)).toEqual(['https://one.example', 'https://two.example']);
    expect(
      annotations.map(({ start_index, end_index }: { start_index: number; end_index: number }) =>
        said.slice(start_index, end_index),
      ),
    ).toEqual(['[1]', '[2]']);
    expect(response.parley).toBeUndefined();
  });

  it('are accepted in the next turn: a sealed state, and a control by its type', async () => {
    upstream.script(createReply());
    const { output } = readResponse(await post(service, { model: 'app', input: 'Show', include: ['parley:controls'] }));
    upstream.script(eventsReply(...plainReply('Done')));
    const input = [{ role: 'user', content: 'Show' }, ...output, { type: 'parley:completed_control', label: 'Yes', value: {} }];
    readResponse(await post(service, { model: 'app', input }));
    expect((await readLastBody()).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', custom_content: { state: { kept: 1 } } },
      { role: 'user', custom_content: { completed_control: { label: 'Yes', value: {} } } },
    ]);
    const sealed = output.at(-1) as { encrypted_content: string };
    const otherUserAnswer = await service.sendRequest({
      path: '/v1/responses',
      headers: withKey('other'),
      body: { model: 'app', input },
    });
    expect([otherUserAnswer.status, JSON.parse(otherUserAnswer.text).error.code]).toEqual([400, 'invalid_encrypted_content']);
    const changed = { ...sealed, encrypted_content: `${sealed.encrypted_content.slice(0, -4)}AAAA` };
    const altered = await post(service, { model: 'app', input: [...input.slice(0, 1), changed] });
    expect(JSON.parse(altered.text).error).toMatchObject({
      code: 'invalid_encrypted_content',
      param: 'input[1].encrypted_content',
    });
  });

  it('include citations of an upstream with its own indexes', async () => {
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 } },
    ];
    upstream.script(eventsReply(text('So.'), delta({ annotations }), finish()));
    const events = await readEvents(service, { model: 'm', input: 'Hi' });
    expect(events.find(({ type }) => type === 'response.output_text.annotation.added')).toMatchObject({
      annotation_index: 0,
      annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 },
    });
  });
});
