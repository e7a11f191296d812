import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

const megabyte = 1024 ** 2;
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('Hello.')));
  service = await startService({ models: { gpt: { upstreams: [{ endpoint: upstream.endpoint }] } } });
});

afterAll(async () => {
  await service.close();
  await upstream[Symbol.asyncDispose]();
});

const fill = (unit: string, bytes = 60 * megabyte): string => unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
const createBody = (written: string): string => `{"messages":[{"role":"user","content":"${written}"}]}`;

interface ChatBody {
  readonly messages: readonly [{ readonly content: string }];
}

async function send(body: string): Promise<[status: number, message: string | undefined]> {
  const { status, json } = await service.sendRequest({ path: getChatPath('gpt'), headers: withKey(), body });
  return [status, (json as { error?: { message: string } }).error?.message];
}

describe('body that would take long to parse', () => {
  it.each([
    ['spaces', `{"messages":[]${fill(' ')}}`, 'more than 32 MiB, not counting long strings without escape sequences'],
    ['line breaks', `{"messages":[]${fill('\n')}}`, 'more than 32 MiB, not counting long strings without escape sequences'],
    ['digits', `{"messages":[],"n":${fill('1')}}`, 'more than 32 MiB, not counting long strings without escape sequences'],
    [
      'escaped quotes',
      createBody(fill('\\"', 10 * megabyte)),
      'more than 32 MiB, not counting long strings without escape sequences',
    ],
    ['quotes', fill('"'), 'more than 500000 keys and items'],
    ['empty texts', `[${fill('"",', 2 * megabyte)}1]`, 'more than 500000 keys and items'],
    [
      'keys',
      `{"messages":[],"metadata":{${Array.from({ length: 120_000 }, (_, nth) => `"k${nth}":1`).join()}}}`,
      'more than 500000 keys and items',
    ],
    ['long numbers', `{"a":[${fill('12345678901234567890,', 2 * megabyte)}1]}`, 'numbers beyond 2^53 among more than 50000'],
  ])('is rejected before it is parsed: %s', async (_what, body, message) => {
    const [status, error] = await send(body);
    expect([status, error]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('list with an invalid item among hundreds of thousands', () => {
  it('is rejected at the first invalid item', async () => {
    const wrong = fill('1,', 800_000);
    expect(await send(`{"messages":[{"role":"user","content":"x"}],"stop":[${wrong}1]}`)).toEqual([
      400,
      'stop[0] must be a string.',
    ]);
    const late = `${fill('"x",', 80_000)}1`;
    expect(await send(`{"messages":[{"role":"user","content":[${fill('{"type":"text","text":"x"},', 300_000)}1]}]}`)).toEqual([
      400,
      'A list has too many items, or an item after the first 12000 values has a wrong form.',
    ]);
    expect(await send(`{"messages":[{"role":"user","content":"x"}],"stop":[${late}]}`)).toEqual([
      400,
      'stop must have at most 4 items.',
    ]);
  });
});

describe('large body that is fast to parse', () => {
  it.each([
    ['one long text', createBody(fill('abcdefgh', 40 * megabyte)), 40],
    ['one long text of two-byte characters', createBody(fill('é', 40 * megabyte)), 40],
    [
      'a long text with line breaks',
      createBody(fill('A line of some eighty letters, as they stand in files that people send.\\n', 20 * megabyte)),
      19,
    ],
    ['an image in an indented body', `{\n  "messages": [{"role": "user",\n "content": "${fill('abcd', 40 * megabyte)}"}]\n}`, 40],
  ])('reaches the upstream completely: %s', async (_what, body, megabytes) => {
    expect(await send(body)).toEqual([200, undefined]);
    const { content } = (JSON.parse(body) as ChatBody).messages[0];
    const sent = upstream.requests.at(-1)?.body as ChatBody | undefined;
    expect(sent?.messages[0].content === content).toBe(true);
    expect(Buffer.byteLength(content)).toBeGreaterThan(megabytes * 0.95 * megabyte);
  });
});
