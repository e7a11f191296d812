import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '#test/anthropic-streams.ts';
import { delta, finish } from '#test/chunks.ts';
import { findGrammarErrors, readMessageEvents } from '#test/message-events.ts';
import { eventsReply, piecesReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createRecordedReply, createUpstream } from '#test/vendor-replies.ts';

/**
 * Returns a request of a command line agent with replaced texts. `first` is the first request of a task. `later` has thoughts,
 * parallel calls, and results with an image, a document, a failure, and a tool reference. `search` includes a search tool of the
 * upstream.
 */
function readRequest(name: 'first' | 'later' | 'search', model: string): { [key: string]: unknown } {
  const text = readFileSync(new URL(`../fixtures/agent/${name}.json`, import.meta.url), 'utf8');
  return { ...(JSON.parse(text) as object), model };
}

const betas = 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24';
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint, url } = upstream;
  service = await startService({
    models: {
      claude: { upstreams: [{ protocol: 'anthropic', endpoint, key: 'k', model: 'claude-upstream' }] },
      gpt: { upstreams: [{ endpoint, model: 'gpt-upstream' }] },
      bedrock: { upstreams: [createUpstream('bedrock', url)] },
      demo: { upstreams: [{ protocol: 'demo' }] },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

function send(body: object): Promise<TestResponse> {
  const headers = { 'x-api-key': callerKey, 'content-type': 'application/json', 'anthropic-beta': betas };
  return service.sendRequest({ path: '/anthropic/v1/messages?beta=true', headers, body });
}

const callReply = eventsReply(
  delta({ role: 'assistant', content: 'I will look.' }),
  delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'Bash', arguments: '' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"command":"ls"}' } }] }),
  finish('tool_calls'),
);

describe('agent client', () => {
  it.each(['first', 'later', 'search'] as const)('is relayed unchanged to an anthropic upstream: %s', async (name) => {
    const bytes = fixture('thinking-tools');
    upstream.script(piecesReply(Buffer.from(bytes, 'latin1')));
    const body = readRequest(name, 'claude');
    const answer = await send(body);
    expect(Buffer.from(answer.text).toString('latin1')).toBe(bytes);
    expect(answer.headers).not.toHaveProperty('parley-ignored');
    const sent = upstream.requests.at(-1) ?? expect.unreachable();
    expect(sent.body).toEqual({ ...body, model: 'claude-upstream' });
    expect(sent.headers['anthropic-beta']).toBe(betas);
  });

  it('works with an OpenAI upstream for its first request', async () => {
    upstream.script(callReply);
    const answer = await send(readRequest('first', 'gpt'));
    const events = readMessageEvents(answer.text);
    expect(findGrammarErrors(events)).toEqual([]);
    expect(events.filter(({ type }) => type === 'content_block_start')).toMatchObject([
      { content_block: { type: 'text' } },
      { content_block: { type: 'tool_use', id: 'call_1', name: 'Bash' } },
    ]);
    expect(String(answer.headers['parley-ignored']).split(', ').sort()).toEqual([
      ...['cache_control', 'context_management', 'thinking.display', 'tools.defer_loading'],
    ]);
    const { body } = upstream.requests.at(-1) ?? expect.unreachable();
    expect(body).toMatchObject({
      ...{ model: 'gpt-upstream', stream: true, max_completion_tokens: 32_000, reasoning_effort: 'high' },
      user: expect.stringMatching(/^[0-9a-f]{64}$/),
      messages: [{ role: 'system' }, { role: 'user' }],
    });
    expect(JSON.stringify(body)).not.toMatch(/cache_control|defer_loading|"type":"thinking"/);
  });

  it('sends tool results to an OpenAI upstream', async () => {
    upstream.script(callReply);
    expect((await send(readRequest('later', 'gpt'))).status).toBe(200);
    const { messages } = (upstream.requests.at(-1)?.body ?? {}) as { messages: { role: string; content: unknown }[] };
    expect(messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: expect.any(String),
        tool_calls: [0, 1, 2, 3].map((n) => expect.objectContaining({ id: `toolu_${n}` })),
      },
      { role: 'tool', tool_call_id: 'toolu_0', content: '' },
      { role: 'tool', tool_call_id: 'toolu_1', content: expect.stringContaining('PDF') },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'The tool failed: Exit code 3' },
      { role: 'tool', tool_call_id: 'toolu_3', content: 'The tool WebSearch can be called.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of Read:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'From the result of Read:' },
          { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' } },
        ],
      },
    ]);
  });

  it.each(['gpt', 'bedrock', 'demo'])(
    'receives an answer without a search, and Parley-Ignored names the search tool: %s',
    async (model) => {
      upstream.script(model === 'bedrock' ? createRecordedReply('bedrock', 'text') : callReply);
      const answer = await send(readRequest('search', model));
      expect([answer.status, answer.headers['parley-ignored']]).toEqual([
        200,
        expect.stringContaining('tools.web_search_20250305'),
      ]);
      if (model !== 'demo') expect(upstream.requests.at(-1)?.text).not.toContain('web_search_20250305');
    },
  );

  it.each<[object, string]>([
    [{ type: 'any' }, 'tool_choice: requires a server-side tool of another vendor'],
    [{ type: 'tool', name: 'web_search' }, 'tool_choice.name: is web_search'],
  ])('is rejected if its tool choice requires a search: %j', async (tool_choice, words) => {
    const count = upstream.requests.length;
    const answer = await send({ ...readRequest('search', 'gpt'), tool_choice });
    expect([answer.status, answer.json]).toMatchObject([
      400,
      {
        error: {
          type: 'invalid_request_error',
          message: expect.stringContaining(words),
        },
      },
    ]);
    expect(upstream.requests.length).toBe(count);
  });

  it('works with the demo', async () => {
    const answer = await send({ ...readRequest('first', 'demo'), max_tokens: 10 });
    expect(findGrammarErrors(readMessageEvents(answer.text))).toEqual([]);
  });
});

describe('agent client with Claude on Bedrock', () => {
  it('keeps cache control, thoughts with signatures, images, documents, and failures', async () => {
    upstream.script(createRecordedReply('bedrock', 'thinking-tools'));
    const answer = await send(readRequest('later', 'bedrock'));
    expect(findGrammarErrors(readMessageEvents(answer.text))).toEqual([]);
    expect(String(answer.headers['parley-ignored']).split(', ')).not.toContain('cache_control');
    const body = upstream.requests.at(-1)?.body as unknown as ConverseBody;
    const point = { cachePoint: { type: 'default' } };
    const rule = (n: number) => ({ text: `Rule ${n}: say what you do.` });
    expect(body.system).toEqual([rule(1), rule(2), point, rule(3), point, { text: expect.stringContaining('# Environment') }]);
    const [, callMessage, resultMessage] = body.messages;
    expect(callMessage?.content.filter((block) => 'reasoningContent' in block)).toContainEqual({
      reasoningContent: { reasoningText: { text: 'Hm, a tool.', signature: 'c2lnbmVk' } },
    });
    expect(callMessage?.content.filter((block) => 'toolUse' in block)).toHaveLength(4);
    const results = resultMessage?.content.filter((block) => 'toolResult' in block) ?? [];
    expect(results).toHaveLength(4);
    expect(JSON.stringify(resultMessage)).toMatch(/"image":\{"format":"png".*"document":\{"format":"pdf"/);
    expect(resultMessage?.content.findIndex((block) => 'cachePoint' in block)).toBeGreaterThan(0);
  });

  it('receives thoughts with signatures, and calls', async () => {
    upstream.script(createRecordedReply('bedrock', 'thinking-tools'));
    const { text } = await send(readRequest('first', 'bedrock'));
    const events = readMessageEvents(text);
    const kinds = events.flatMap((event) => (event.type === 'content_block_start' ? [event.content_block.type] : []));
    expect(kinds).toEqual(expect.arrayContaining(['thinking', 'tool_use']));
    expect(text).toContain('signature_delta');
    expect(text).toContain('"stop_reason":"tool_use"');
  });
});

interface ConverseBody {
  readonly system: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
}
