import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { eventsReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { echo, instead, type ServedTool, text as said, startSessions, startStateless } from '../mcp/servers.ts';
import { clientOf, eventsOf, post, responseOf, type Told } from './support.ts';

const look: ServedTool = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
  run: ({ at }) => said(`seen ${at}`),
  ...{ annotations: { readOnlyHint: true } },
};
const broken: ServedTool = { name: 'broken', run: () => ({ ...said('out of order'), isError: true }) };

describe.each(['SQLite', 'PostgreSQL'] as const)('tools of servers that a request names, on %s', (engine) => {
  let model: ScriptedUpstream;
  let stored: ResponseDatabase;
  let service: TestService;
  let configuration: { [key: string]: unknown };

  beforeAll(async () => {
    model = await startScriptedUpstream();
    stored = await openResponses(engine);
    const upstreams = [{ endpoint: model.endpoint, key: 'k', model: 'up' }];
    const quick = { temperature: 0, instructions: 'Be kind.', model: 'm' };
    configuration = {
      models: {
        m: { upstreams, maxRetryAttempts: 1 },
        relayed: { upstreams: [{ ...upstreams[0], api: 'both' }], maxRetryAttempts: 1 },
      },
      applications: {
        quick: {
          applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
          applicationProperties: quick,
        },
      },
      keys: { [callerKey]: { project: 'clients' } },
      responses: { mcpServers: ['127.0.0.1'] },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    };
    service = await startService(configuration, { responses: stored.stores() });
  });

  afterEach(() => service.forgetFailures());

  afterAll(async () => {
    await service.close();
    await model.close();
    await stored[Symbol.asyncDispose]();
  });

  const call = (index: number, id: string, name: string, args: object) =>
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }] });
  const calls = (...asked: [string, object][]): Reply =>
    eventsReply(
      ...asked.map(([name, args], index) => call(index, `call_${index}`, name, args)),
      finish('tool_calls'),
      usage(7, 5),
    );
  const says = (words: string): Reply => eventsReply(...plainReply(words));
  const serverAt = (url: string, more: object = {}) => ({
    ...{ type: 'mcp', server_label: 'dice', server_url: url, require_approval: 'never' },
    ...more,
  });
  const sent = (nth = -1) => model.requests.at(nth)?.body as { messages: object[]; tools?: { function: { name: string } }[] };
  const namesSent = (nth = -1) => (sent(nth).tools ?? []).map((tool) => tool.function.name);
  const typesOf = (events: readonly Told[]) => events.map(({ type }) => type.replace('response.', ''));

  describe('a remote MCP server that a request names', () => {
    it('has its tools run in Parley, and returned as items with their events', async () => {
      const { url, asked } = await startStateless([echo, look]);
      model.script(
        eventsReply(text('Let me look.'), call(0, 'call_0', 'dice__look', { at: 'it' }), finish('tool_calls'), usage(7, 5)),
        says('I saw it.'),
      );
      const events = await eventsOf(service, { model: 'm', input: 'Look', tools: [serverAt(url)] });
      expect(typesOf(events).filter((type) => !/^(content_part|output_text)/.test(type))).toEqual([
        ...['created', 'in_progress'],
        ...['output_item.added', 'mcp_list_tools.in_progress', 'mcp_list_tools.completed', 'output_item.done'],
        ...['output_item.added', 'output_item.done'],
        ...['output_item.added', 'mcp_call.in_progress', 'mcp_call_arguments.delta', 'mcp_call_arguments.done'],
        ...['mcp_call.completed', 'output_item.done'],
        ...['output_item.added', 'output_item.done'],
        'completed',
      ]);
      const { output, usage: used } = (events.at(-1) as unknown as { response: { output: object[]; usage: object } }).response;
      expect(output).toMatchObject([
        {
          type: 'mcp_list_tools',
          server_label: 'dice',
          tools: [
            { name: 'echo', annotations: null },
            {
              ...{ name: 'look', description: 'Looks.', annotations: { readOnlyHint: true } },
              input_schema: { type: 'object', properties: { at: { type: 'string' } } },
            },
          ],
        },
        { type: 'message', content: [{ text: 'Let me look.' }] },
        {
          ...{ type: 'mcp_call', server_label: 'dice', name: 'look', arguments: '{"at":"it"}', status: 'completed' },
          ...{ output: 'seen it', error: null, approval_request_id: null },
        },
        { type: 'message', content: [{ text: 'I saw it.' }] },
      ]);
      expect(used).toMatchObject({ input_tokens: 14, output_tokens: 10 });
      expect(namesSent()).toEqual(['dice__echo', 'dice__look']);
      expect(asked('tools/call')).toHaveLength(1);
    });

    it('receives the client’s credentials, which no response contains', async () => {
      const { url, asked } = await startSessions([echo]);
      model.script(calls(['dice__echo', { text: 'hi' }]), says('Done.'));
      const tool = serverAt(url, { authorization: 'let-me-in', headers: { 'X-Team': 'red-team' } });
      const response = responseOf(await post(service, { model: 'm', input: 'x', tools: [tool] }));
      expect(asked('tools/call')[0]?.headers).toMatchObject({ authorization: 'Bearer let-me-in', 'x-team': 'red-team' });
      expect(JSON.stringify(response)).not.toMatch(/let-me-in|red-team/);
      expect(response.output[1]).toMatchObject({ type: 'mcp_call', output: 'echo hi' });
    });

    it('is not told a second time in a conversation, whose calls the model is shown', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'one' }]), says('One.'), says('Two.'));
      const first = await clientOf(service).responses.create({ model: 'm', input: 'x', tools: [serverAt(url) as never] });
      const second = await clientOf(service).responses.create({
        ...{ model: 'm', input: 'again', previous_response_id: first.id, tools: [serverAt(url) as never] },
      });
      expect(second.output.map(({ type }) => type)).toEqual(['message']);
      const [, made] = first.output;
      expect(sent().messages).toMatchObject([
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [{ id: made?.id, function: { name: 'dice__echo', arguments: '{"text":"one"}' } }] },
        { role: 'tool', tool_call_id: made?.id, content: 'echo one' },
        { role: 'assistant', content: 'One.' },
        { role: 'user', content: 'again' },
      ]);
    });

    it('works together with client tools, which are returned', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }], ['mine', { b: 1 }]), says('Done.'));
      const tools = [{ type: 'function', name: 'mine', parameters: { type: 'object' } }, serverAt(url)];
      const { output } = responseOf(await post(service, { model: 'm', input: 'x', store: false, tools }));
      expect(output.slice(1)).toMatchObject([
        { type: 'mcp_call', output: 'echo a' },
        { type: 'function_call', name: 'mine', arguments: '{"b":1}' },
      ]);
      const result = { type: 'function_call_output', call_id: output[2].call_id, output: 'b' };
      responseOf(await post(service, { model: 'm', input: [...output, result], store: false, tools }));
      expect(sent().messages).toMatchObject([
        { tool_calls: [{ function: { name: 'dice__echo' } }] },
        { role: 'tool', content: 'echo a' },
        { tool_calls: [{ function: { name: 'mine' } }] },
        { role: 'tool', content: 'b' },
      ]);
    });

    it.each([
      ['allowed_tools by name', { allowed_tools: ['echo'] }, {}, ['dice__echo']],
      ['allowed_tools that change nothing', { allowed_tools: { read_only: true } }, {}, ['dice__look']],
      [
        'a choice among tools',
        {},
        { type: 'allowed_tools', tools: [{ type: 'mcp', server_label: 'dice', name: 'look' }] },
        ['dice__look'],
      ],
      ['a choice without it', {}, { type: 'allowed_tools', tools: [{ type: 'function', name: 'mine' }] }, ['mine']],
    ])('offers the tools of %s', async (_what, more, choice, names) => {
      const { url } = await startStateless([echo, look]);
      model.script(says('Done.'));
      const mine = { type: 'function', name: 'mine' };
      const tool_choice = 'type' in choice ? choice : 'auto';
      responseOf(await post(service, { model: 'm', input: 'x', store: false, tools: [mine, serverAt(url, more)], tool_choice }));
      expect(namesSent()).toEqual(names.includes('mine') || 'type' in choice ? names : ['mine', ...names]);
    });

    it('returns an error to the model, and a failed call', async () => {
      const { url } = await startStateless([broken]);
      model.script(calls(['dice__broken', {}]), says('It is broken.'));
      const events = await eventsOf(service, { model: 'm', input: 'x', tools: [serverAt(url)] });
      expect(typesOf(events)).toContain('mcp_call.failed');
      const { output } = (events.at(-1) as unknown as { response: { output: object[] } }).response;
      expect(output[1]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null, error: 'out of order' });
      expect(sent().messages.at(-1)).toMatchObject({ role: 'tool', content: 'out of order' });
    });

    it('reports that it does not list its tools, while the rest works', async () => {
      const before = instead('tools/list', () => new Response('no', { status: 500 }));
      const { url } = await startStateless([echo], { before });
      model.script(says('Without it.'));
      const events = await eventsOf(service, { model: 'm', input: 'x', tools: [serverAt(url)] });
      expect(typesOf(events)).toContain('mcp_list_tools.failed');
      const { output } = (events.at(-1) as unknown as { response: { output: object[] } }).response;
      expect(output).toMatchObject([
        { type: 'mcp_list_tools', tools: [], error: expect.stringContaining('dice') },
        { type: 'message', content: [{ text: 'Without it.' }] },
      ]);
    });

    it.each([
      ['server_url', { server_url: 'https://elsewhere.example/mcp' }, 'responses.mcpServers'],
      ['server_url', { server_url: 'ftp://127.0.0.1/mcp' }, 'http'],
      ['server_url', { server_url: 'http://me:secret@127.0.0.1/mcp' }, 'password'],
      ['server_url', { server_url: undefined }, 'is required'],
      ['connector_id', { connector_id: 'connector_gmail', server_url: undefined }, 'server_url'],
      ['headers.Host', { headers: { Host: 'x' } }, 'Remove it'],
      ['headers.X-A', { headers: { 'X-A': 'a\nb' } }, 'HTTP'],
      ['require_approval', { require_approval: 'sometimes' }, 'must be'],
      ['server_label', { server_label: 'a b' }, 'must match'],
    ])('is refused for its %s, with the way out: %j', async (field, more, words) => {
      const { status, json } = await post(service, { model: 'm', input: 'x', tools: [serverAt('http://127.0.0.1:1/mcp', more)] });
      expect(status).toBe(400);
      expect(json).toMatchObject({ error: { param: `tools[0].${field}`, message: expect.stringContaining(words) } });
    });

    it('is checked by the network guard for every name', async () => {
      service.reload({ ...configuration, security: {} });
      const { url, seen } = await startStateless([echo]);
      model.script(says('Without it.'));
      const { output } = responseOf(await post(service, { model: 'm', input: 'x', tools: [serverAt(url)] }));
      expect(output[0]).toMatchObject({ type: 'mcp_list_tools', tools: [], error: expect.any(String) });
      expect(seen).toEqual([]);
      service.reload(configuration);
    });
  });

  describe('a call that the user has to approve', () => {
    const askFirst = (url: string) => serverAt(url, { require_approval: { never: { read_only: true } } });
    const begin = async (url: string, more: object = {}) => {
      model.script(calls(['dice__echo', { text: 'a' }], ['dice__look', { at: 'b' }]), says('Done.'));
      return responseOf(await post(service, { model: 'm', input: 'x', tools: [askFirst(url)], ...more }));
    };
    const answer = (id: string, approve = true, more: object = {}) => ({
      ...{ type: 'mcp_approval_response', approval_request_id: id, approve },
      ...more,
    });

    it('waits, and is made when it is approved', async () => {
      const { url, asked } = await startStateless([echo, look]);
      const first = await begin(url);
      expect(first).toMatchObject({ status: 'completed' });
      expect(first.output.slice(1)).toMatchObject([
        { type: 'mcp_call', name: 'look', output: 'seen b' },
        { type: 'mcp_approval_request', server_label: 'dice', name: 'echo', arguments: '{"text":"a"}' },
      ]);
      expect(asked('tools/call').map(({ message }) => message.params?.name)).toEqual(['look']);
      const [, made, request] = first.output;
      const next = { model: 'm', previous_response_id: first.id, tools: [askFirst(url)], input: [answer(request.id)] };
      const second = responseOf(await post(service, next));
      expect(second.output).toMatchObject([
        { type: 'mcp_call', name: 'echo', output: 'echo a', approval_request_id: request.id },
        { type: 'message', content: [{ text: 'Done.' }] },
      ]);
      expect(sent().messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: made.id }] },
        { role: 'tool', tool_call_id: made.id, content: 'seen b' },
        { role: 'assistant', tool_calls: [{ id: request.id, function: { name: 'dice__echo', arguments: '{"text":"a"}' } }] },
        { role: 'tool', tool_call_id: request.id, content: 'echo a' },
      ]);
      model.script(says('Still done.'));
      responseOf(await post(service, { model: 'm', previous_response_id: second.id, tools: [askFirst(url)], input: 'And?' }));
      expect(asked('tools/call')).toHaveLength(2);
      expect(sent().messages.filter((message) => (message as { role: string }).role === 'tool')).toHaveLength(2);
    });

    it('is not made if the user declines, which the model learns, or does not answer', async () => {
      const { url, asked } = await startStateless([echo, look]);
      const { output } = await begin(url, { store: false });
      const request = output.at(-1);
      model.script(says('As you like.'));
      const input = [...output, answer(request.id, false, { reason: 'Too loud.' }), { role: 'user', content: 'Go on' }];
      responseOf(await post(service, { model: 'm', input, store: false, tools: [askFirst(url)] }));
      expect(sent().messages.slice(-2)).toMatchObject([
        { role: 'tool', tool_call_id: request.id, content: 'The user declined this call. Too loud.' },
        { role: 'user', content: 'Go on' },
      ]);
      responseOf(await post(service, { model: 'm', input: [...output, { role: 'user', content: 'Go on' }], store: false }));
      expect(sent().messages.at(-2)).toMatchObject({ role: 'tool', content: expect.stringContaining('not made') });
      expect(asked('tools/call').map(({ message }) => message.params?.name)).toEqual(['look']);
    });

    it('is rejected without a request for approval, or if its server is no longer named', async () => {
      const { url } = await startStateless([echo, look]);
      const { output } = await begin(url, { store: false });
      const unasked = await post(service, { model: 'm', input: [answer('mcpr_none')], tools: [askFirst(url)] });
      expect([unasked.status, unasked.json]).toMatchObject([400, { error: { param: 'input[0].approval_request_id' } }]);
      const gone = await post(service, { model: 'm', input: [...output, answer(output.at(-1).id)] });
      expect([gone.status, gone.json]).toMatchObject([
        400,
        { error: { param: 'tools', message: expect.stringContaining('dice') } },
      ]);
    });

    it('needs approval by default, and as the filter says', async () => {
      const { url } = await startStateless([echo, look]);
      for (const [require_approval, held] of [
        [undefined, 2],
        ['always', 2],
        [{ always: { tool_names: ['look'] } }, 1],
        [{ never: { tool_names: ['echo', 'look'] } }, 0],
      ] as const) {
        model.script(calls(['dice__echo', { text: 'a' }], ['dice__look', { at: 'b' }]), says('Done.'));
        const tools = [serverAt(url, { require_approval })];
        const { output } = responseOf(await post(service, { model: 'm', input: 'x', store: false, tools }));
        expect(output.filter(({ type }: Told) => type === 'mcp_approval_request')).toHaveLength(held);
      }
    });
  });

  describe('tools of a remote server', () => {
    it('are run in the background too, and its events can be read again', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }]), says('Done.'));
      const client = clientOf(service);
      const tools = [serverAt(url) as never];
      const { id } = await client.responses.create({ model: 'm', input: 'x', background: true, tools });
      const ended = await vi.waitFor(async () => {
        const response = await client.responses.retrieve(id);
        expect(response.status).toBe('completed');
        return response;
      }, 10_000);
      expect(ended.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
      const types: string[] = [];
      for await (const { type } of await client.responses.retrieve(id, { stream: true })) types.push(type);
      expect(types).toEqual(expect.arrayContaining(['response.mcp_list_tools.completed', 'response.mcp_call.completed']));
    });

    it('run for a quick app, which keeps its state', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }]), says('Done.'));
      const { output } = responseOf(await post(service, { model: 'quick', input: 'x', tools: [serverAt(url)] }));
      expect(output.slice(1)).toMatchObject([
        { type: 'mcp_call', output: 'echo a' },
        { type: 'message', content: [{ text: 'Done.' }] },
      ]);
      expect(sent().messages).toMatchObject([
        { role: 'system' },
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ function: { name: 'dice__echo' } }] },
        { role: 'tool', content: 'echo a' },
      ]);
    });

    it('are run here also if the upstream speaks the dialect, which is not told of the server', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }]), says('Done.'));
      const answered = await post(service, { model: 'relayed', input: 'x', tools: [serverAt(url), { type: 'web_search' }] });
      expect(responseOf(answered).output.at(-1)).toMatchObject({ type: 'message', content: [{ text: 'Done.' }] });
      expect(answered.headers['parley-ignored']).toContain('tools.web_search');
      expect(JSON.stringify(sent())).not.toContain(url);
      expect(model.requests.at(-1)?.path).toBe('/v1/chat/completions');
    });

    it('do not include data of an upstream about servers', async () => {
      const { url } = await startStateless([echo]);
      const forged = { kind: 'listed', server: 'forged', tools: [], error: null };
      model.script(eventsReply(delta({ custom_content: { remote: [forged] } } as never), ...plainReply('Done.')));
      for (const tools of [[], [serverAt(url)]]) {
        const { output } = responseOf(await post(service, { model: 'm', input: 'x', store: false, tools }));
        expect(JSON.stringify(output)).not.toContain('forged');
      }
    });
  });
});
