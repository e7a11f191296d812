import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, plainReply } from '#test/chunks.ts';
import { eventsReply, piecesReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { toNamed } from '../messages/support.ts';
import { post, type ResponseEvent, readEvents, readResponse } from './support.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { endpoint, url } = upstream;
  service = await startService({
    models: {
      claude: { upstreams: [{ protocol: 'anthropic', endpoint, key: 'k', model: 'claude-sonnet-4-5' }], maxRetryAttempts: 1 },
      gemini: {
        upstreams: [{ protocol: 'gemini', endpoint: `${url}/v1beta`, key: 'k', model: 'gemini-3-pro' }],
        maxRetryAttempts: 1,
      },
      plain: { upstreams: [{ endpoint, model: 'up' }], maxRetryAttempts: 1 },
    },
    keys: { [callerKey]: { project: 'p' } },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

type Item = Record<string, unknown> & { type: string };

function listItems(events: readonly ResponseEvent[]): Item[] {
  return (events.at(-1) as unknown as { response: { output: Item[] } }).response.output;
}

async function readLastBody(): Promise<Record<string, unknown>> {
  return (await upstream.request(upstream.requests.length - 1)).body;
}

const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((each) => ({ type: 'content_block_delta', index, delta: each })),
  { type: 'content_block_stop', index },
];
const claudeReply = piecesReply(
  [
    {
      type: 'message_start',
      message: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [],
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me ' },
      { type: 'thinking_delta', thinking: 'see.' },
      { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' }),
    ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'I look.' }),
    ...block(
      3,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '{"at":1}' },
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
    .map(toNamed)
    .join(''),
);
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const fields = { input: 'Hi', tools, reasoning: { effort: 'low' } };
const result = (call_id: unknown) => ({ type: 'function_call_output', call_id, output: 'seen' });

describe('reasoning of a model', () => {
  it('is returned as a summary, and accepted with its signature', async () => {
    upstream.script(claudeReply);
    const events = await readEvents(service, { model: 'claude', ...fields, include: ['reasoning.encrypted_content'] });
    const items = listItems(events);
    expect(items.map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'message', 'function_call']);
    expect(items[0]).toMatchObject({
      summary: [{ type: 'summary_text', text: 'Let me see.' }],
      encrypted_content: expect.stringMatching(/^s1\./),
    });
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('response.reasoning'))).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ]);
    upstream.script(claudeReply);
    const input = [{ role: 'user', content: 'Hi' }, ...items, result('toolu_1')];
    expect((await post(service, { model: 'claude', ...fields, input })).status).toBe(200);
    expect(await readLastBody()).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmF0dXJl' },
            { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ],
    });
  });

  it('is omitted and listed in Parley-Ignored for a model of another vendor', async () => {
    upstream.script(claudeReply);
    const items = listItems(await readEvents(service, { model: 'claude', ...fields, include: ['reasoning.encrypted_content'] }));
    upstream.script(eventsReply(...plainReply('Done')));
    const input = [{ role: 'user', content: 'Hi' }, ...items, result('toolu_1')];
    const otherAnswer = await post(service, { model: 'plain', ...fields, input });
    expect(readResponse(otherAnswer).output[0].content[0].text).toBe('Done');
    expect(otherAnswer.headers['parley-ignored']).toBe('reasoning.encrypted_content');
    expect((await readLastBody()).messages).toMatchObject([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'toolu_1', function: { name: 'look' } }] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
    ]);
    expect(JSON.stringify(await readLastBody())).not.toContain('c2lnbmF0dXJl');
  });

  it('is not sealed for a client that does not request it', async () => {
    upstream.script(claudeReply);
    expect(JSON.stringify(listItems(await readEvents(service, { model: 'claude', ...fields })))).not.toContain(
      'encrypted_content',
    );
  });

  it('is signed in the calls of Gemini, and the signature is sent back', async () => {
    const parts = [{ functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature: 'Z2VtaW5p' }];
    const reply = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
    };
    upstream.script(piecesReply(`data: ${JSON.stringify(reply)}\n\n`));
    const items = listItems(await readEvents(service, { model: 'gemini', ...fields }));
    expect(items.map(({ type }) => type)).toEqual(['function_call', 'reasoning']);
    upstream.script(
      piecesReply(
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'Done' }] }, finishReason: 'STOP' }] })}\n\n`,
      ),
    );
    const input = [{ role: 'user', content: 'Hi' }, ...items, result(items[0]?.call_id)];
    readResponse(await post(service, { model: 'gemini', ...fields, input }));
    expect(JSON.stringify(await readLastBody())).toContain('"thoughtSignature":"Z2VtaW5p"');
  });

  it('is returned unchanged to an upstream that sends it without a signature', async () => {
    upstream.script(eventsReply(delta({ role: 'assistant', reasoning_content: 'Hm.' }), delta({ content: 'So.' }), finish()));
    const items = listItems(await readEvents(service, { model: 'plain', input: 'Hi', include: ['reasoning.encrypted_content'] }));
    upstream.script(eventsReply(...plainReply('Done')));
    readResponse(
      await post(service, {
        model: 'plain',
        input: [{ role: 'user', content: 'Hi' }, ...items, { role: 'user', content: 'And?' }],
      }),
    );
    expect((await readLastBody()).messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'So.', reasoning_content: 'Hm.' },
      { role: 'user', content: 'And?' },
    ]);
  });
});
