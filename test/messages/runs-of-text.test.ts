import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '#base/json/json.ts';
import { delta, finish, text, usage } from '#test/chunks.ts';
import { findGrammarErrors, readMessageEvents } from '#test/message-events.ts';
import { piecesReply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';

/** Pieces as an upstream writes them in JSON strings. `content` is their decoded text. */
const pieces = [
  'Gr',
  '\\u00fc\\u00dfe',
  ' \\"',
  'Grüße 你好 😀',
  '',
  '\\\\',
  '\\ud83d\\ude00',
  '\\n',
  ' \\/',
  '{"a":1}'.replaceAll('"', '\\"'),
];
const content = 'Grüße "Grüße 你好 😀\\😀\n /{"a":1}';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService({ models: { gpt: { upstreams: [{ endpoint: upstream.endpoint }] } } });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

/** Scripts a stream of equal text events with `readSize` events per read, so that Parley handles them in batches. */
function scriptPieces(texts: readonly string[], readSize: number): void {
  const mark = '@@';
  const [before, after] = toEvent(text(mark)).split(mark);
  const events = texts.map((piece) => `${before}${piece}${after}`);
  const reads = Array.from({ length: Math.ceil(events.length / readSize) }, (_, nth) =>
    events.slice(nth * readSize, (nth + 1) * readSize).join(''),
  );
  const opening = toEvent(delta({ role: 'assistant', content: '' }));
  upstream.script(piecesReply(opening, ...reads, `${toEvent(finish())}${toEvent(usage(7, 5))}data: [DONE]\n\n`));
}

async function send(path: string, body: object): Promise<string> {
  const headers = { 'api-key': callerKey, 'content-type': 'application/json' };
  const answer = await service.sendRequest({ path, headers, body: { model: 'gpt', stream: true, ...body } });
  expect(answer.status).toBe(200);
  return answer.text;
}

const messages = { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

describe.each([1, 3, 100])('stream of text with %i events per read', (readSize) => {
  it('is converted to Messages events for each piece', async () => {
    scriptPieces(['first', ...pieces], readSize);
    const events = readMessageEvents(await send('/anthropic/v1/messages', messages));
    expect(findGrammarErrors(events)).toEqual([]);
    const texts = events.flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
    );
    expect(texts.join('')).toBe(`first${content}`);
    expect(texts).toHaveLength(pieces.filter((piece) => piece !== '').length + 1);
  });

  it('is converted to Responses events for each piece with consecutive sequence numbers', async () => {
    scriptPieces(['first', ...pieces], readSize);
    const events = (await send('/v1/responses', { input: 'Hello', store: false })).split('\n\n').flatMap((event) => {
      const data = /^data: (\{.*)$/m.exec(event)?.[1];
      return data === undefined ? [] : [JSON.parse(data) as { type: string; sequence_number: number; [key: string]: unknown }];
    });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, nth) => nth));
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map((event) => event.delta).join('')).toBe(`first${content}`);
    expect(new Set(deltas.map((event) => Object.keys(event).join())).size).toBe(1);
    expect(events.find(({ type }) => type === 'response.output_text.done')?.text).toBe(`first${content}`);
    const last = events.at(-1)?.response;
    expect(isJsonObject(last) && JSON.stringify(last.output)).toContain(JSON.stringify(`first${content}`));
  });
});

describe('text that is not a valid JSON string', () => {
  it.each([
    ['/anthropic/v1/messages', messages],
    ['/v1/responses', { input: 'Hello', store: false }],
  ])('is an upstream failure at %s', async (path, body) => {
    scriptPieces(['first', 'second', 'th\\xird', 'fourth'], 1);
    const answer = await send(path, body);
    expect(answer).toContain('second');
    expect(answer).toMatch(/malformed/);
    expect(answer).not.toContain('fourth');
  });
});
