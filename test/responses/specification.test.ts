import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '#base/json/json.ts';
import { delta, finish, plainReply, text, usage } from '#test/chunks.ts';
import { toValues, upstreamsAreOdd } from '#test/described-answers.ts';
import { Specification } from '#test/open-responses/specification.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import {
  type Answering,
  eventsReply,
  jsonReply,
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { echo, instead, type ServedTool, text as said, startStateless } from '../mcp/servers.ts';
import { nativeReply } from './native-reply.ts';
import type { Told } from './support.ts';

// Asks for everything that a service can answer, until each schema of the specification, and each of our differences, was seen.

upstreamsAreOdd();

/** What nothing that is asked here brings, since Parley never says it. */
const neverTold = ['TextContent', 'InputVideoContent', 'CompactionBody.created_by', 'ErrorPayload.headers', 'ParleyShown.cost'];

const mayBeAbsent = ['user', 'logprobs'];

const broken: ServedTool = { name: 'broken', run: () => ({ ...said('out of order'), isError: true }) };
const picture = 'data:image/png;base64,iVBORw0KGgo=';
const call = (index: number, id: string, name: string, args: string) =>
  delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const custom = (custom_content: object) => delta({ custom_content });
const find = { type: 'function', name: 'find', parameters: { type: 'object' } };
const patch = { type: 'custom', name: 'patch' };
const space = { type: 'namespace', name: 'crm', tools: [find] };

describe.each(['SQLite', 'PostgreSQL'] as const)('the responses of two nodes with %s', (engine) => {
  const held = new Specification();
  let upstream: ScriptedUpstream;
  let stored: ResponseDatabase;
  let nodes: readonly TestService[];
  let asked = 0;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    stored = await openResponses(engine);
    const to = { endpoint: upstream.endpoint, key: 'k', model: 'up' };
    const configuration = {
      models: {
        m: { upstreams: [to], maxRetryAttempts: 1 },
        native: { upstreams: [{ ...to, api: 'responses' }], maxRetryAttempts: 1 },
        agreed: { upstreams: [to], features: { consentRequired: true } },
      },
      applications: { app: { endpoint: `${upstream.endpoint}/chat/completions` } },
      keys: { [callerKey]: { project: 'clients' } },
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

  /** Asks the nodes in turn, and holds what they say. */
  async function tell(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    asked += 1;
    const node = nodes[asked % nodes.length] as TestService;
    node.forgetFailures();
    const answered = await node.sendRequest({ method, path: `/v1/${path}`, headers: withKey(callerKey), body });
    const { status, headers } = answered;
    const type = headers['content-type']?.split(';', 1)[0] ?? '';
    const answer = { method, path: `/v1/${path.split('?', 1)[0]}`, status, type, text: answered.text, isWhole: true };
    expect(held.findAnswerErrors(answer)).toEqual([]);
    return answered;
  }

  /** The same question as one text and as a stream, to an upstream that says the same to both; then all that is stored of it. */
  async function askBoth(body: object, ...replies: readonly Reply[]): Promise<string> {
    let id = '';
    for (const stream of [false, true]) {
      if (replies.length > 0) upstream.script(...replies);
      const { status, text: bytes } = await tell('POST', 'responses', { model: 'm', input: 'Hi', stream, ...body });
      expect(status, bytes).toBe(200);
      id = /"id":"(resp_\w+)"/.exec(bytes)?.[1] ?? '';
      if ('store' in body) continue;
      await tell('GET', `responses/${id}?include[]=reasoning.encrypted_content`);
      const { text: items } = await tell('GET', `responses/${id}/input_items`);
      expect(JSON.parse(items)).toMatchObject({ object: 'list', has_more: false });
    }
    return id;
  }

  it('to a plain text is of the specification', async () => {
    await askBoth({}, eventsReply(...plainReply('Hel', 'lo')));
    await askBoth({ text: { format: { type: 'json_object' }, verbosity: 'low' } }, eventsReply(...plainReply('{}')));
    const format = { type: 'json_schema', name: 'p', schema: { type: 'object' } };
    await askBoth({ text: { format }, reasoning: { effort: 'minimal' }, user: 'u' }, eventsReply(...plainReply('{}')));
  });

  it('to an input of every kind of item and content is of the specification', async () => {
    const linked = { type: 'input_file', file_url: 'https://a.example/b.pdf' };
    const file = { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' };
    const content = [{ type: 'input_text', text: 'Look' }, { type: 'input_image', image_url: picture }, file, linked];
    const calls = ['a', 'b', 'c'].map((call_id) => ({ type: 'function_call', call_id, name: 'find', arguments: '{}' }));
    const outputs = ['ok', [{ type: 'input_text', text: 'ok' }], [{ type: 'input_image', image_url: picture, detail: 'low' }]];
    const input = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content },
      ...calls,
      ...calls.map(({ call_id }, at) => ({ type: 'function_call_output', call_id, output: outputs[at] })),
      { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'ok' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: 'Why?' },
    ];
    await askBoth({ input, tools: [find, patch] }, eventsReply(...plainReply('So.')));
  });

  it('with calls is of the specification', async () => {
    const tools = [find, patch, space];
    const made = [call(0, 'a', 'find', '{}'), call(1, 'b', 'patch', '{"input":"x"}'), call(2, 'c', 'crm__find', '{}')];
    await askBoth({ tools }, eventsReply(...made, finish('tool_calls'), usage(1, 1)));
    const tool = { type: 'function', name: 'find' };
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [tool] };
    for (const tool_choice of ['required', tool, allowed])
      await askBoth({ tools, tool_choice }, eventsReply(...made.slice(0, 1), finish('tool_calls')));
  });

  it('with thoughts, a refusal and citations is of the specification', async () => {
    const thought = delta({ reasoning_content: 'Hm.' } as never);
    await askBoth({ reasoning: { summary: 'auto' } }, eventsReply(thought, text('So.'), finish(), usage(1, 1)));
    await askBoth({}, eventsReply(delta({ refusal: 'No.' }), finish()));
    const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    await askBoth({}, eventsReply(text('So.'), delta({ annotations: [{ type: 'url_citation', url_citation }] }), finish()));
  });

  it('as an upstream of the dialect said it is of the specification', async () => {
    const include = ['message.output_text.logprobs', 'reasoning.encrypted_content'];
    await askBoth({ model: 'native', tools: [find], include, top_logprobs: 1 }, nativeReply());
  });

  it('with stages and attachments of applications follow our schemas', async () => {
    const include = [
      'parley:stages',
      'parley:attachments',
      'parley:controls',
      'parley:statistics',
      'reasoning.encrypted_content',
    ];
    const shown = [
      custom({ stages: [{ index: 0, name: 'Look', content: 'found', status: 'completed' }] }),
      custom({ attachments: [{ index: 0, title: 'One', data: 'a' }] }),
      custom({ controls: [{ index: 0, label: 'Yes', schema: { type: 'object' } }], state: { kept: 1 } }),
    ];
    await askBoth({ model: 'app', include }, eventsReply(text('So.'), ...shown, finish()));
    await askBoth({ model: 'app', include, store: false }, eventsReply(text('So.'), ...shown, finish()));
  });

  it('that fails or ends early is of the specification', async () => {
    await askBoth({}, eventsReply(text('Half'), finish('length'), usage(3, 2)));
    const odd = jsonReply({ error: { message: 'No.', type: 'x', code: 'y', param: null, display_message: 'Later.' } }, 400);
    upstream.script(odd);
    for (const body of [{ model: 'm' }, { model: 'gone' }, { model: 'agreed' }, { model: 'm', tools: 1 }, {}])
      expect((await tell('POST', 'responses', { input: 'Hi', ...body })).status).toBeGreaterThanOrEqual(400);
    upstream.script(async (answering: Answering) => {
      answering.head();
      await answering.events(text('Half'));
      answering.destroyConnection();
    });
    const { text: bytes } = await tell('POST', 'responses', { model: 'm', input: 'Hi', stream: true });
    expect(bytes).toContain('event: response.failed');
  });

  it('in the background is of the specification', async () => {
    const id = await askBoth({ background: true }, eventsReply(...plainReply('Hello')));
    await tell('GET', `responses/${id}?stream=true`);
    upstream.script(() => undefined);
    const { text: waiting } = await tell('POST', 'responses', { model: 'm', input: 'Hi', background: true });
    const cancelled = await tell('POST', `responses/${(JSON.parse(waiting) as { id: string }).id}/cancel`);
    expect(JSON.parse(cancelled.text)).toMatchObject({ status: 'cancelled' });
  });

  it('of conversations and compactions is of the specification', async () => {
    upstream.script(eventsReply(...plainReply('Sum.')));
    const compacted = await tell('POST', 'responses/compact', { model: 'm', input: 'I live in Oslo.' });
    const { output } = JSON.parse(compacted.text) as { output: object[] };
    await askBoth({ input: [...output, { role: 'user', content: 'Where?' }] }, eventsReply(...plainReply('Oslo')));
    const { text: made } = await tell('POST', 'conversations', { items: [{ role: 'user', content: 'Hi' }] });
    const { id } = JSON.parse(made) as { id: string };
    await askBoth({ conversation: id });
    const added = await tell('POST', `conversations/${id}/items`, { items: [{ role: 'user', content: 'Ho' }] });
    const { first_id } = JSON.parse(added.text) as { first_id: string };
    await tell('GET', `conversations/${id}/items/${first_id}`);
    await tell('GET', `conversations/${id}/items`);
  });

  it('with tools of remote servers is of ours', async () => {
    const { url } = await startStateless([echo, broken]);
    const server = { type: 'mcp', server_label: 'dice', server_url: url, require_approval: { always: { tool_names: ['echo'] } } };
    const free = { ...server, require_approval: 'never' };
    const failing = call(1, 'b', 'dice__broken', '{}');
    const both = eventsReply(call(0, 'a', 'dice__echo', '{"text":"a"}'), failing, finish('tool_calls'), usage(1, 1));
    await askBoth({ tools: [free] }, both, eventsReply(...plainReply('Done')));
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 'dice', name: 'echo' }] };
    await askBoth({ tools: [free], tool_choice }, eventsReply(...plainReply('Done')));
    const id = await askBoth({ tools: [server] }, both, eventsReply(...plainReply('Done')));
    const waiting = await tell('GET', `responses/${id}`);
    const approval_request_id = /mcpr_\w+/.exec(waiting.text)?.[0];
    const input = [{ type: 'mcp_approval_response', approval_request_id, approve: false }];
    await askBoth({ tools: [server], input, previous_response_id: id }, eventsReply(...plainReply('Fine.')));
    const silent = await startStateless([echo], { before: instead('tools/list', () => new Response('no', { status: 500 })) });
    await askBoth({ tools: [{ ...free, server_url: silent.url }] }, eventsReply(...plainReply('Without it.')));
  });

  it('has every schema of the specification but those that are never told, and every difference', () => {
    expect(held.countable.filter((name) => !held.seen.has(name))).toEqual(neverTold);
  });

  it('the check reports each missing or additional field', async () => {
    upstream.script(eventsReply(...plainReply('Hello')));
    const { text: bytes } = await tell('POST', 'responses', { model: 'm', input: 'Hi', stream: true, user: 'u' });
    const events = toValues('text/event-stream', bytes) as Told[];
    expect(events.map(({ type }) => type)).toContain('response.completed');
    const snapshots = events.flatMap(({ response }) => (isJsonObject(response) ? [['ResponseResource', response] as const] : []));
    for (const [type, value] of [...events.map((event) => ['StreamingEvent', event] as const), ...snapshots]) {
      const without = (field: string) => Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
      const unheard = Object.keys(value).filter((field) => held.findErrors(type, without(field)).length === 0);
      expect(unheard.filter((field) => !mayBeAbsent.includes(field))).toEqual([]);
      expect(held.findErrors(type, { ...value, more: 1 })).toHaveLength(1);
    }
  });
});
