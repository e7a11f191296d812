import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finish, text } from '#test/chunks.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { piecesReply, type ScriptedUpstream, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';
import { ownBucket } from '../applications/support.ts';
import { TestFiles } from '../retrieval/rig.ts';

const maxBlockMs = 250;
const megabyte = 1024 ** 2;
const nearlyMaxBytes = 16 * megabyte - 1000;
/** Events of the maximum size. Events that Parley cannot read end the reply with an error. */
const largeEvents: readonly (readonly [name: string, event: string])[] = [
  ['one text', toEvent(text('x'.repeat(nearlyMaxBytes)))],
  ['one text outside ASCII', toEvent(text('é'.repeat(nearlyMaxBytes / 2)))],
  ['escapes', toEvent(text('\n"'.repeat(nearlyMaxBytes / 4)))],
  ['numbers', `data: {"choices":[],"a":[${'1,'.repeat(400_000)}1]}\n\n`],
  ['white space', `data: {"choices":[]${' '.repeat(nearlyMaxBytes)}}\n\n`],
  ['data lines', `${'data:\n'.repeat(nearlyMaxBytes / 6)}\n`],
  ['comment lines', `${':\n'.repeat(nearlyMaxBytes / 2)}\n`],
  ['field names', `${'x\n'.repeat(nearlyMaxBytes / 2)}\n`],
  ['carriage returns', `${':\r'.repeat(nearlyMaxBytes / 2)}\r`],
  ['carriage returns and line feeds', `${'data:\r\n'.repeat(nearlyMaxBytes / 7)}\r\n`],
];
const pieces = (event: string): string[] =>
  Array.from({ length: Math.ceil(event.length / 65_536) }, (_, nth) => event.slice(nth * 65_536, (nth + 1) * 65_536));
const ending = `${toEvent(finish())}data: [DONE]\n\n`;

let upstream: ScriptedUpstream;
let stores: TestFiles;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  stores = await TestFiles.open();
  const models = { demo: { upstreams: [{ protocol: 'demo' }] }, gpt: { upstreams: [{ endpoint: upstream.endpoint }] } };
  service = await startService({ models }, stores.options);
});

afterAll(async () => {
  await service.close();
  await stores[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const post = (path: string, body: unknown) => service.sendRequest({ path, headers: withKey(), body: JSON.stringify(body) });
const countTokens = (input: readonly object[]) => post('/v1/responses/input_tokens', { model: 'demo', input });

async function expectShortBlock(status: number, run: () => Promise<{ status: number; json: unknown }>): Promise<void> {
  let answer: { status: number; json: unknown } | undefined;
  const blockedMs = await measureMinEventLoopBlock(maxBlockMs, async () => {
    answer = await run();
  });
  expect(answer).toMatchObject({ status });
  expect(blockedMs).toBeLessThan(maxBlockMs);
}

describe('POST /v1/tools/run', () => {
  it('does not block the event loop for a query of digits', async () => {
    const reference = await stores.put('rules.md', 'The library opens at nine.', ownBucket);
    const toolset = { type: 'documents', document_relative_url: [reference] };
    const run = (query: string) => post('/v1/tools/run', { toolset, tool: 'query_document', arguments: { query } });
    await run('When does it open?');
    await expectShortBlock(200, () => run(`What is ${'1'.repeat(27)}th?`));
  });
});

describe('POST /v1/responses/input_tokens', () => {
  const file = (fields: object) => [{ role: 'user', content: [{ type: 'input_file', ...fields }] }];

  it('does not block the event loop for a file name of dots and question marks', async () => {
    await expectShortBlock(200, () =>
      countTokens(file({ filename: `${'.a?'.repeat(50_000)}\n`, file_url: 'https://x.example/a' })),
    );
  });

  it.each([
    ['file_url', { type: 'input_file' }],
    ['image_url', { type: 'input_image' }],
  ])('rejects a %s of more than 8192 characters', async (field, part) => {
    const input = [{ role: 'user', content: [{ ...part, [field]: `https://x.example/${'.a?'.repeat(50_000)}` }] }];
    let answer: Awaited<ReturnType<typeof post>> | undefined;
    const blockedMs = await measureMinEventLoopBlock(maxBlockMs, async () => {
      answer = await countTokens(input);
    });
    expect(answer?.json).toMatchObject({ error: { code: 'invalid_request', param: `input[0].content[0].${field}` } });
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });

  it('accepts a data: URL of more than 8192 characters', async () => {
    const image_url = `data:image/png;base64,${'A'.repeat(10_000)}`;
    expect((await countTokens([{ role: 'user', content: [{ type: 'input_image', image_url }] }])).status).toBe(200);
  });

  it.each([
    ['parley:attachment', { title: 'a', data: 'x' }],
    ['parley:control', { label: 'a' }],
  ])('does not block the event loop for many %s items', async (type, fields) => {
    const items = Array.from({ length: 12_000 }, () => ({ type, ...fields }));
    await expectShortBlock(200, () => countTokens([{ role: 'user', content: 'Hello' }, ...items]));
  });

  it('does not block the event loop for many calls of one message', async () => {
    const ids = Array.from({ length: 5_000 }, (_, nth) => `c${nth}`);
    const calls = ids.map((call_id) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' }));
    const outputs = ids.map((call_id) => ({ type: 'function_call_output', call_id, output: '' }));
    await expectShortBlock(200, () => countTokens([{ role: 'user', content: 'Hello' }, ...calls, ...outputs]));
  });
});

describe('attachment URLs', () => {
  const url = `https://x.example/${'a'.repeat(9000)}`;

  it('are rejected by chat completions if they have more than 8192 characters', async () => {
    const messages = [{ role: 'user', content: 'x', custom_content: { attachments: [{ url }] } }];
    const { status, json } = await post(getChatPath('demo'), { messages });
    expect([status, json]).toMatchObject([400, { error: { param: 'messages[0].custom_content.attachments[0].url' } }]);
  });

  it.each([
    [{ url }, '.url'],
    [url, ''],
  ])('of images are also rejected by chat completions', async (image_url, field) => {
    const { status, json } = await post(getChatPath('demo'), {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }],
    });
    expect([status, json]).toMatchObject([400, { error: { param: `messages[0].content[0].image_url${field}` } }]);
  });

  it('are rejected by messages if they have more than 8192 characters', async () => {
    const content = [{ type: 'image', source: { type: 'url', url } }];
    const { status, text } = await post('/msgapi/v1/messages', {
      model: 'demo',
      max_tokens: 9,
      messages: [{ role: 'user', content }],
    });
    expect([status, text]).toEqual([400, expect.stringContaining('messages.0.content.0.source.url: must have at most 8192')]);
  });
});

describe('streamed upstream event of 16 MiB', () => {
  it.each(largeEvents)('does not block the event loop: %s', async (_name, event) => {
    upstream.script(piecesReply(...pieces(event), ending));
    const blockedMs = await measureMinEventLoopBlock(maxBlockMs, () =>
      post(getChatPath('gpt'), { messages: [{ role: 'user', content: 'x' }], stream: true }),
    );
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });
});

describe('POST /msgapi/v1/messages', () => {
  it('does not block the event loop for many consecutive user messages', async () => {
    upstream.script(piecesReply(toEvent(text('Hi')), ending));
    const messages = Array.from({ length: 8_000 }, () => ({ role: 'user', content: 'What is the weather in Oslo?' }));
    await expectShortBlock(200, () => post('/msgapi/v1/messages', { model: 'gpt', max_tokens: 9, messages }));
  });
});
