import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '#base/json/json.ts';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { allowNonconformingUpstreams, toValues } from '#test/described-answers.ts';
import { Specification } from '#test/open-responses/specification.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import {
  eventsReply,
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, text as said, startStateless } from '../mcp/servers.ts';
import { createNativeReply } from './native-reply.ts';
import type { ResponseEvent } from './support.ts';

// Requests all kinds of answers of the service, until each schema of the specification and each extension of Parley occurred.

allowNonconformingUpstreams();

/** Schemas that no answer uses, because Parley never sends them. */
const neverSent = ['TextContent', 'InputVideoContent', 'CompactionBody.created_by', 'ErrorPayload.headers', 'ParleyShown.cost'];

const mayBeAbsent = ['user', 'logprobs'];

const broken: ServedTool = { name: 'broken', run: () => ({ ...said('out of order'), isError: true }) };
const picture = 'data:image/png;base64,iVBORw0KGgo=';
const call = (index: number, id: string, name: string, args: string) =>
  delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const custom = (custom_content: object) => delta({ custom_content });
const find = { type: 'function', name: 'find', parameters: { type: 'object' } };
const patch = { type: 'custom', name: 'patch' };
const space = { type: 'namespace', name: 'crm', tools: [find] };

describe.each(['SQLite', 'PostgreSQL'] as const)('responses of two nodes with %s', (engine) => {
  const specification = new Specification();
  let upstream: ScriptedUpstream;
  let stored: ResponseDatabase;
  let nodes: readonly TestService[];
  let requestCount = 0;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    stored = await openResponses(engine);
    const upstreamFields = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    const configuration = {
      models: {
        m: { upstreams: [upstreamFields], maxRetryAttempts: 1 },
        native: { upstreams: [{ ...upstreamFields, api: 'responses' }], maxRetryAttempts: 1 },
        limited: { upstreams: [upstreamFields] },
        agreed: { upstreams: [upstreamFields], features: { consentRequired: true } },
      },
      applications: { app: { endpoint: `${upstream.endpoint}/chat/completions` } },
      keys: { [callerKey]: { project: 'clients' } },
      projects: { clients: { limits: { limited: { requestDay: 1 } } } },
      consent: { directCalls: 'require' },
      responses: { mcpServers: ['127.0.0.1'] },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    };
    const start = () => startService(configuration, { responses: { ...stored.stores(), isShared: true } });
    nodes = [await start(), await start()];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await upstream.close();
    await stored[Symbol.asyncDispose]();
  });

  /** Sends a request to the nodes in turn and validates the answer. */
  async function sendChecked(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    requestCount += 1;
    const node = nodes[requestCount % nodes.length] as TestService;
    node.forgetFailures();
    const answered = await node.sendRequest({ method, path: `/v1/${path}`, headers: withKey(callerKey), body });
    const { status, headers } = answered;
    const type = headers['content-type']?.split(';', 1)[0] ?? '';
    const answer = { method, path: `/v1/${path.split('?', 1)[0]}`, status, type, text: answered.text, isComplete: true };
    expect(specification.findAnswerErrors(answer)).toEqual([]);
    return answered;
  }

  /** Sends a request as JSON and as a stream with equal upstream replies, then reads the stored response. */
  async function sendBoth(body: object, ...replies: readonly Reply[]): Promise<string> {
    let id = '';
    for (const stream of [false, true]) {
      if (replies.length > 0) upstream.script(...replies);
      const { status, text: bytes } = await sendChecked('POST', 'responses', { model: 'm', input: 'Hi', stream, ...body });
      expect(status, bytes).toBe(200);
      id = /"id":"(resp_\w+)"/.exec(bytes)?.[1] ?? '';
      if ('store' in body) continue;
      await sendChecked('GET', `responses/${id}?include[]=reasoning.encrypted_content`);
      const { text: items } = await sendChecked('GET', `responses/${id}/input_items`);
      expect(JSON.parse(items)).toMatchObject({ object: 'list', has_more: false });
    }
    return id;
  }

  it('with plain text match the specification', async () => {
    await sendBoth({}, eventsReply(...plainReply('Hel', 'lo')));
    await sendBoth({ text: { format: { type: 'json_object' }, verbosity: 'low' } }, eventsReply(...plainReply('{}')));
    const format = { type: 'json_schema', name: 'p', schema: { type: 'object' } };
    await sendBoth({ text: { format }, reasoning: { effort: 'minimal' }, user: 'u' }, eventsReply(...plainReply('{}')));
  });

  it('to every kind of input item and content match the specification', async () => {
    const linked = { type: 'input_file', file_url: 'https://a.example/b.pdf' };
    const file = { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' };
    const content = [{ type: 'input_text', text: 'Look' }, { type: 'input_image', image_url: picture }, file, linked];
    const calls = ['a', 'b', 'c'].map((call_id) => ({ type: 'function_call', call_id, name: 'find', arguments: '{}' }));
    const outputs = ['ok', [{ type: 'input_text', text: 'ok' }], [{ type: 'input_image', image_url: picture, detail: 'low' }]];
    const input = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content },
      ...calls,
      ...calls.map(({ call_id }, index) => ({ type: 'function_call_output', call_id, output: outputs[index] })),
      { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'ok' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: 'Why?' },
    ];
    await sendBoth({ input, tools: [find, patch] }, eventsReply(...plainReply('So.')));
  });

  it('with calls match the specification', async () => {
    const tools = [find, patch, space];
    const createdText = [call(0, 'a', 'find', '{}'), call(1, 'b', 'patch', '{"input":"x"}'), call(2, 'c', 'crm__find', '{}')];
    await sendBoth({ tools }, eventsReply(...createdText, finish('tool_calls'), usage(1, 1)));
    const tool = { type: 'function', name: 'find' };
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [tool] };
    for (const tool_choice of ['required', tool, allowed])
      await sendBoth({ tools, tool_choice }, eventsReply(...createdText.slice(0, 1), finish('tool_calls')));
  });

  it('with reasoning, a refusal, and citations match the specification', async () => {
    const thought = delta({ reasoning_content: 'Hm.' } as never);
    await sendBoth({ reasoning: { summary: 'auto' } }, eventsReply(thought, text('So.'), finish(), usage(1, 1)));
    await sendBoth({}, eventsReply(delta({ refusal: 'No.' }), finish()));
    const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    await sendBoth({}, eventsReply(text('So.'), delta({ annotations: [{ type: 'url_citation', url_citation }] }), finish()));
  });

  it('of an upstream with the Responses API match the specification', async () => {
    const include = ['message.output_text.logprobs', 'reasoning.encrypted_content'];
    await sendBoth({ model: 'native', tools: [find], include, top_logprobs: 1 }, createNativeReply());
  });

  it('with stages and attachments of applications match the schemas of Parley', async () => {
    const include = [
      'parley:stages',
      'parley:attachments',
      'parley:controls',
      'parley:statistics',
      'reasoning.encrypted_content',
    ];
    const customChunks = [
      custom({ stages: [{ index: 0, name: 'Look', content: 'found', status: 'completed' }] }),
      custom({ attachments: [{ index: 0, title: 'One', data: 'a' }] }),
      custom({ controls: [{ index: 0, label: 'Yes', schema: { type: 'object' } }], state: { kept: 1 } }),
    ];
    await sendBoth({ model: 'app', include }, eventsReply(text('So.'), ...customChunks, finish()));
    await sendBoth({ model: 'app', include, store: false }, eventsReply(text('So.'), ...customChunks, finish()));
  });

  it('that fail or end early match the specification', async () => {
    await sendBoth({}, eventsReply(text('Half'), finish('length'), usage(3, 2)));
    const errorReply = jsonReply(
      { error: { message: 'No.', type: 'x', code: 'y', param: null, display_message: 'Later.' } },
      400,
    );
    upstream.script(eventsReply(...plainReply('First')), errorReply);
    expect((await sendChecked('POST', 'responses', { model: 'limited', input: 'Hi' })).status).toBe(200);
    for (const body of [
      { model: 'm' },
      { model: 'limited' },
      { model: 'gone' },
      { model: 'agreed' },
      { model: 'm', tools: 1 },
      {},
    ])
      expect((await sendChecked('POST', 'responses', { input: 'Hi', ...body })).status).toBeGreaterThanOrEqual(400);
    upstream.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.events(text('Half'));
      exchange.destroyConnection();
    });
    const { text: bytes } = await sendChecked('POST', 'responses', { model: 'm', input: 'Hi', stream: true });
    expect(bytes).toContain('event: response.failed');
  });

  it('in the background match the specification', async () => {
    const id = await sendBoth({ background: true }, eventsReply(...plainReply('Hello')));
    await sendChecked('GET', `responses/${id}?stream=true`);
    upstream.script(() => undefined);
    const { text: waiting } = await sendChecked('POST', 'responses', { model: 'm', input: 'Hi', background: true });
    const cancelled = await sendChecked('POST', `responses/${(JSON.parse(waiting) as { id: string }).id}/cancel`);
    expect(JSON.parse(cancelled.text)).toMatchObject({ status: 'cancelled' });
  });

  it('of conversations and compactions match the specification', async () => {
    upstream.script(eventsReply(...plainReply('Sum.')));
    const compacted = await sendChecked('POST', 'responses/compact', { model: 'm', input: 'I live in Oslo.' });
    const { output } = JSON.parse(compacted.text) as { output: object[] };
    await sendBoth({ input: [...output, { role: 'user', content: 'Where?' }] }, eventsReply(...plainReply('Oslo')));
    const { text: createdText } = await sendChecked('POST', 'conversations', { items: [{ role: 'user', content: 'Hi' }] });
    const { id } = JSON.parse(createdText) as { id: string };
    await sendBoth({ conversation: id });
    const added = await sendChecked('POST', `conversations/${id}/items`, { items: [{ role: 'user', content: 'Ho' }] });
    const { first_id } = JSON.parse(added.text) as { first_id: string };
    await sendChecked('GET', `conversations/${id}/items/${first_id}`);
    await sendChecked('GET', `conversations/${id}/items`);
  });

  it('with tools of remote servers match the schemas of Parley', async () => {
    const { url } = await startStateless([echo, broken]);
    const server = { type: 'mcp', server_label: 'dice', server_url: url, require_approval: { always: { tool_names: ['echo'] } } };
    const free = { ...server, require_approval: 'never' };
    const failing = call(1, 'b', 'dice__broken', '{}');
    const both = eventsReply(call(0, 'a', 'dice__echo', '{"text":"a"}'), failing, finish('tool_calls'), usage(1, 1));
    await sendBoth({ tools: [free] }, both, eventsReply(...plainReply('Done')));
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 'dice', name: 'echo' }] };
    await sendBoth({ tools: [free], tool_choice }, eventsReply(...plainReply('Done')));
    const id = await sendBoth({ tools: [server] }, both, eventsReply(...plainReply('Done')));
    const waiting = await sendChecked('GET', `responses/${id}`);
    const approval_request_id = /mcpr_\w+/.exec(waiting.text)?.[0];
    const input = [{ type: 'mcp_approval_response', approval_request_id, approve: false }];
    await sendBoth({ tools: [server], input, previous_response_id: id }, eventsReply(...plainReply('Fine.')));
    const silent = await startStateless([echo], { before: instead('tools/list', () => new Response('no', { status: 500 })) });
    await sendBoth({ tools: [{ ...free, server_url: silent.url }] }, eventsReply(...plainReply('Without it.')));
  });

  it('use all schemas of the specification except those that Parley never sends, and all extensions', () => {
    expect(specification.countable.filter((name) => !specification.seen.has(name))).toEqual(neverSent);
  });

  it('are only accepted by the check without missing or additional fields', async () => {
    upstream.script(eventsReply(...plainReply('Hello')));
    const { text: bytes } = await sendChecked('POST', 'responses', { model: 'm', input: 'Hi', stream: true, user: 'u' });
    const events = toValues('text/event-stream', bytes) as ResponseEvent[];
    expect(events.map(({ type }) => type)).toContain('response.completed');
    const snapshots = events.flatMap(({ response }) => (isJsonObject(response) ? [['ResponseResource', response] as const] : []));
    for (const [type, value] of [...events.map((event) => ['StreamingEvent', event] as const), ...snapshots]) {
      const without = (field: string) => Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
      const undetected = Object.keys(value).filter((field) => specification.findErrors(type, without(field)).length === 0);
      expect(undetected.filter((field) => !mayBeAbsent.includes(field))).toEqual([]);
      expect(specification.findErrors(type, { ...value, more: 1 })).toHaveLength(1);
    }
  });
});
