import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { eventsReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { echo, instead, type ServedTool, text as said, startSessions, startStateless } from '../mcp/servers.ts';
import { createClient, post, type ResponseEvent, readEvents, readResponse } from './support.ts';

const look: ServedTool = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { at: { type: 'string' } } },
  run: ({ at }) => said(`seen ${at}`),
  ...{ annotations: { readOnlyHint: true } },
};
const broken: ServedTool = { name: 'broken', run: () => ({ ...said('out of order'), isError: true }) };

describe.each(['SQLite', 'PostgreSQL'] as const)('MCP servers of a request on %s', (engine) => {
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
  const calls = (...toolCalls: [string, object][]): Reply =>
    eventsReply(
      ...toolCalls.map(([name, args], index) => call(index, `call_${index}`, name, args)),
      finish('tool_calls'),
      usage(7, 5),
    );
  const answerWith = (words: string): Reply => eventsReply(...plainReply(words));
  const createServer = (url: string, more: object = {}) => ({
    ...{ type: 'mcp', server_label: 'dice', server_url: url, require_approval: 'never' },
    ...more,
  });
  const getRequest = (nth = -1) =>
    model.requests.at(nth)?.body as { messages: object[]; tools?: { function: { name: string } }[] };
  const listSentTools = (nth = -1) => (getRequest(nth).tools ?? []).map((tool) => tool.function.name);
  const listTypes = (events: readonly ResponseEvent[]) => events.map(({ type }) => type.replace('response.', ''));

  describe('remote MCP server', () => {
    it('runs its tools in Parley and returns their items and events', async () => {
      const { url, asked: toolCalls } = await startStateless([echo, look]);
      model.script(
        eventsReply(text('Let me look.'), call(0, 'call_0', 'dice__look', { at: 'it' }), finish('tool_calls'), usage(7, 5)),
        answerWith('I saw it.'),
      );
      const events = await readEvents(service, { model: 'm', input: 'Look', tools: [createServer(url)] });
      expect(listTypes(events).filter((type) => !/^(content_part|output_text)/.test(type))).toEqual([
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
      expect(listSentTools()).toEqual(['dice__echo', 'dice__look']);
      expect(toolCalls('tools/call')).toHaveLength(1);
    });

    it('receives the credentials of the client, which no response contains', async () => {
      const { url, asked: toolCalls } = await startSessions([echo]);
      model.script(calls(['dice__echo', { text: 'hi' }]), answerWith('Done.'));
      const tool = createServer(url, { authorization: 'let-me-in', headers: { 'X-Team': 'red-team' } });
      const response = readResponse(await post(service, { model: 'm', input: 'x', tools: [tool] }));
      expect(toolCalls('tools/call')[0]?.headers).toMatchObject({ authorization: 'Bearer let-me-in', 'x-team': 'red-team' });
      expect(JSON.stringify(response)).not.toMatch(/let-me-in|red-team/);
      expect(response.output[1]).toMatchObject({ type: 'mcp_call', output: 'echo hi' });
    });

    it('is not listed again in a conversation, and the model receives its earlier calls', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'one' }]), answerWith('One.'), answerWith('Two.'));
      const first = await createClient(service).responses.create({ model: 'm', input: 'x', tools: [createServer(url) as never] });
      const second = await createClient(service).responses.create({
        ...{ model: 'm', input: 'again', previous_response_id: first.id, tools: [createServer(url) as never] },
      });
      expect(second.output.map(({ type }) => type)).toEqual(['message']);
      const [, madeCall] = first.output;
      expect(getRequest().messages).toMatchObject([
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [{ id: madeCall?.id, function: { name: 'dice__echo', arguments: '{"text":"one"}' } }] },
        { role: 'tool', tool_call_id: madeCall?.id, content: 'echo one' },
        { role: 'assistant', content: 'One.' },
        { role: 'user', content: 'again' },
      ]);
    });

    it('works together with client tools, which are returned', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }], ['mine', { b: 1 }]), answerWith('Done.'));
      const tools = [{ type: 'function', name: 'mine', parameters: { type: 'object' } }, createServer(url)];
      const { output } = readResponse(await post(service, { model: 'm', input: 'x', store: false, tools }));
      expect(output.slice(1)).toMatchObject([
        { type: 'mcp_call', output: 'echo a' },
        { type: 'function_call', name: 'mine', arguments: '{"b":1}' },
      ]);
      const result = { type: 'function_call_output', call_id: output[2].call_id, output: 'b' };
      readResponse(await post(service, { model: 'm', input: [...output, result], store: false, tools }));
      expect(getRequest().messages).toMatchObject([
        { tool_calls: [{ function: { name: 'dice__echo' } }] },
        { role: 'tool', content: 'echo a' },
        { tool_calls: [{ function: { name: 'mine' } }] },
        { role: 'tool', content: 'b' },
      ]);
    });

    it.each([
      ['allowed_tools by name', { allowed_tools: ['echo'] }, {}, ['dice__echo']],
      ['allowed_tools that are read-only', { allowed_tools: { read_only: true } }, {}, ['dice__look']],
      [
        'a tool_choice with its tool',
        {},
        { type: 'allowed_tools', tools: [{ type: 'mcp', server_label: 'dice', name: 'look' }] },
        ['dice__look'],
      ],
      ['a tool_choice without its tools', {}, { type: 'allowed_tools', tools: [{ type: 'function', name: 'mine' }] }, ['mine']],
    ])('offers the tools of %s', async (_what, more, choice, names) => {
      const { url } = await startStateless([echo, look]);
      model.script(answerWith('Done.'));
      const mine = { type: 'function', name: 'mine' };
      const tool_choice = 'type' in choice ? choice : 'auto';
      readResponse(
        await post(service, { model: 'm', input: 'x', store: false, tools: [mine, createServer(url, more)], tool_choice }),
      );
      expect(listSentTools()).toEqual(names.includes('mine') || 'type' in choice ? names : ['mine', ...names]);
    });

    it('returns a tool error to the model and as a failed call', async () => {
      const { url } = await startStateless([broken]);
      model.script(calls(['dice__broken', {}]), answerWith('It is broken.'));
      const events = await readEvents(service, { model: 'm', input: 'x', tools: [createServer(url)] });
      expect(listTypes(events)).toContain('mcp_call.failed');
      const { output } = (events.at(-1) as unknown as { response: { output: object[] } }).response;
      expect(output[1]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null, error: 'out of order' });
      expect(getRequest().messages.at(-1)).toMatchObject({ role: 'tool', content: 'out of order' });
    });

    it('is reported with an error if it does not list its tools, and the response continues', async () => {
      const before = instead('tools/list', () => new Response('no', { status: 500 }));
      const { url } = await startStateless([echo], { before });
      model.script(answerWith('Without it.'));
      const events = await readEvents(service, { model: 'm', input: 'x', tools: [createServer(url)] });
      expect(listTypes(events)).toContain('mcp_list_tools.failed');
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
    ])('is rejected for its %s with a hint: %j', async (field, more, words) => {
      const { status, json } = await post(service, {
        model: 'm',
        input: 'x',
        tools: [createServer('http://127.0.0.1:1/mcp', more)],
      });
      expect(status).toBe(400);
      expect(json).toMatchObject({ error: { param: `tools[0].${field}`, message: expect.stringContaining(words) } });
    });

    it('is blocked by the network guard even if the configuration allows its host', async () => {
      service.reload({ ...configuration, security: {} });
      const { url, seen } = await startStateless([echo]);
      model.script(answerWith('Without it.'));
      const { output } = readResponse(await post(service, { model: 'm', input: 'x', tools: [createServer(url)] }));
      expect(output[0]).toMatchObject({ type: 'mcp_list_tools', tools: [], error: expect.any(String) });
      expect(seen).toEqual([]);
      service.reload(configuration);
    });
  });

  describe('call that requires approval', () => {
    const requireApproval = (url: string) => createServer(url, { require_approval: { never: { read_only: true } } });
    const begin = async (url: string, more: object = {}) => {
      model.script(calls(['dice__echo', { text: 'a' }], ['dice__look', { at: 'b' }]), answerWith('Done.'));
      return readResponse(await post(service, { model: 'm', input: 'x', tools: [requireApproval(url)], ...more }));
    };
    const answer = (id: string, approve = true, more: object = {}) => ({
      ...{ type: 'mcp_approval_response', approval_request_id: id, approve },
      ...more,
    });

    it('waits, and runs after it is approved', async () => {
      const { url, asked: toolCalls } = await startStateless([echo, look]);
      const first = await begin(url);
      expect(first).toMatchObject({ status: 'completed' });
      expect(first.output.slice(1)).toMatchObject([
        { type: 'mcp_call', name: 'look', output: 'seen b' },
        { type: 'mcp_approval_request', server_label: 'dice', name: 'echo', arguments: '{"text":"a"}' },
      ]);
      expect(toolCalls('tools/call').map(({ message }) => message.params?.name)).toEqual(['look']);
      const [, madeCall, request] = first.output;
      const next = { model: 'm', previous_response_id: first.id, tools: [requireApproval(url)], input: [answer(request.id)] };
      const second = readResponse(await post(service, next));
      expect(second.output).toMatchObject([
        { type: 'mcp_call', name: 'echo', output: 'echo a', approval_request_id: request.id },
        { type: 'message', content: [{ text: 'Done.' }] },
      ]);
      expect(getRequest().messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: madeCall.id }] },
        { role: 'tool', tool_call_id: madeCall.id, content: 'seen b' },
        { role: 'assistant', tool_calls: [{ id: request.id, function: { name: 'dice__echo', arguments: '{"text":"a"}' } }] },
        { role: 'tool', tool_call_id: request.id, content: 'echo a' },
      ]);
      model.script(answerWith('Still done.'));
      readResponse(
        await post(service, { model: 'm', previous_response_id: second.id, tools: [requireApproval(url)], input: 'And?' }),
      );
      expect(toolCalls('tools/call')).toHaveLength(2);
      expect(getRequest().messages.filter((message) => (message as { role: string }).role === 'tool')).toHaveLength(2);
    });

    it('does not run if the user declines, which the model is informed of, or if there is no answer', async () => {
      const { url, asked: toolCalls } = await startStateless([echo, look]);
      const { output } = await begin(url, { store: false });
      const request = output.at(-1);
      model.script(answerWith('As you like.'));
      const input = [...output, answer(request.id, false, { reason: 'Too loud.' }), { role: 'user', content: 'Go on' }];
      readResponse(await post(service, { model: 'm', input, store: false, tools: [requireApproval(url)] }));
      expect(getRequest().messages.slice(-2)).toMatchObject([
        { role: 'tool', tool_call_id: request.id, content: 'The user declined this call. Too loud.' },
        { role: 'user', content: 'Go on' },
      ]);
      readResponse(await post(service, { model: 'm', input: [...output, { role: 'user', content: 'Go on' }], store: false }));
      expect(getRequest().messages.at(-2)).toMatchObject({ role: 'tool', content: expect.stringContaining('not made') });
      expect(toolCalls('tools/call').map(({ message }) => message.params?.name)).toEqual(['look']);
    });

    it('is rejected without an approval request, or if the request omits its server', async () => {
      const { url } = await startStateless([echo, look]);
      const { output } = await begin(url, { store: false });
      const unknownApproval = await post(service, { model: 'm', input: [answer('mcpr_none')], tools: [requireApproval(url)] });
      expect([unknownApproval.status, unknownApproval.json]).toMatchObject([
        400,
        { error: { param: 'input[0].approval_request_id' } },
      ]);
      const missingServer = await post(service, { model: 'm', input: [...output, answer(output.at(-1).id)] });
      expect([missingServer.status, missingServer.json]).toMatchObject([
        400,
        { error: { param: 'tools', message: expect.stringContaining('dice') } },
      ]);
    });

    it('requires approval by default and as the filter specifies', async () => {
      const { url } = await startStateless([echo, look]);
      for (const [require_approval, pendingCount] of [
        [undefined, 2],
        ['always', 2],
        [{ always: { tool_names: ['look'] } }, 1],
        [{ never: { tool_names: ['echo', 'look'] } }, 0],
      ] as const) {
        model.script(calls(['dice__echo', { text: 'a' }], ['dice__look', { at: 'b' }]), answerWith('Done.'));
        const tools = [createServer(url, { require_approval })];
        const { output } = readResponse(await post(service, { model: 'm', input: 'x', store: false, tools }));
        expect(output.filter(({ type }: ResponseEvent) => type === 'mcp_approval_request')).toHaveLength(pendingCount);
      }
    });
  });

  describe('tools of a remote server', () => {
    it('run in the background, and their events can be read again', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }]), answerWith('Done.'));
      const client = createClient(service);
      const tools = [createServer(url) as never];
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
      model.script(calls(['dice__echo', { text: 'a' }]), answerWith('Done.'));
      const { output } = readResponse(await post(service, { model: 'quick', input: 'x', tools: [createServer(url)] }));
      expect(output.slice(1)).toMatchObject([
        { type: 'mcp_call', output: 'echo a' },
        { type: 'message', content: [{ text: 'Done.' }] },
      ]);
      expect(getRequest().messages).toMatchObject([
        { role: 'system' },
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ function: { name: 'dice__echo' } }] },
        { role: 'tool', content: 'echo a' },
      ]);
    });

    it('run in Parley even if the upstream has the Responses API, and the server is not sent to it', async () => {
      const { url } = await startStateless([echo]);
      model.script(calls(['dice__echo', { text: 'a' }]), answerWith('Done.'));
      const answered = await post(service, { model: 'relayed', input: 'x', tools: [createServer(url), { type: 'web_search' }] });
      expect(readResponse(answered).output.at(-1)).toMatchObject({ type: 'message', content: [{ text: 'Done.' }] });
      expect(answered.headers['parley-ignored']).toContain('tools.web_search');
      expect(JSON.stringify(getRequest())).not.toContain(url);
      expect(model.requests.at(-1)?.path).toBe('/v1/chat/completions');
    });

    it('exclude server data that an upstream forges', async () => {
      const { url } = await startStateless([echo]);
      const forged = { kind: 'listed', server: 'forged', tools: [], error: null };
      model.script(eventsReply(delta({ custom_content: { remote: [forged] } } as never), ...plainReply('Done.')));
      for (const tools of [[], [createServer(url)]]) {
        const { output } = readResponse(await post(service, { model: 'm', input: 'x', store: false, tools }));
        expect(JSON.stringify(output)).not.toContain('forged');
      }
    });
  });
});
