import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Chunk, Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { TestRequest, TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

type Message = Completion['choices'][number]['message'];

let node: TestProcess;
let key: string;

beforeAll(async () => {
  node = await startProcess({ configuration: null });
  await node.untilOutput(/#key=\S+\n/);
  key = /#key=(\S+)/.exec(node.output.stdout)?.[1] ?? '';
});

afterAll(() => node[Symbol.asyncDispose]());

/** What a stock client is streamed, put together. */
async function ask(model: string, question: string, attached: readonly object[] = []): Promise<Message> {
  const client = new OpenAI({ baseURL: `${node.url}/v1`, apiKey: key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: question, custom_content: { attachments: attached } }];
  const whole = new Accumulator();
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
    whole.add(chunk as unknown as Chunk);
  const message = whole.completion().choices[0]?.message;
  if (message === undefined) throw new Error('there is no message');
  return message;
}

function sendJson(asking: TestRequest): Promise<TestResponse> {
  return node.sendRequest({ ...asking, headers: withKey(key) });
}

/** What the application suggests to begin with. */
async function startersOf(id: string): Promise<readonly string[]> {
  const { json } = await sendJson({ method: 'GET', path: `/v1/deployments/${id}/configuration` });
  return (json as { starters: string[] }).starters;
}

describe('the sample app of the embedded default', () => {
  it('answers from its documents, with a stage and citations of what it quotes', async () => {
    const { content, custom_content: custom } = await ask('sample', (await startersOf('sample'))[0] ?? '');
    expect(content).toMatch(/> Books may be kept for three weeks; .+ \[\d+\]/);
    expect(custom?.stages).toContainEqual(expect.objectContaining({ name: 'query_document', status: 'completed' }));
    expect(custom?.attachments).toContainEqual(
      expect.objectContaining({
        title: 'handbook.md',
        data: expect.stringContaining('Books may be kept for three weeks'),
        reference_url: 'files/~sample/handbook.md',
      }),
    );
    for (const { reference_url: reference = '' } of custom?.attachments ?? []) {
      const { status, text } = await sendJson({ method: 'GET', path: `/v1/${reference}` });
      expect([status, text]).toEqual([200, await readFile(`samples/${basename(reference)}`, 'utf8')]);
    }
  });

  it.each([
    [1, 'opening_hours', 'opens 10:00, closes 21:00'],
    [2, 'book_status', '2 of 3 copies are in, on shelf F-27'],
    [3, 'query_document', '4 euros an hour'],
  ])('answers its starter %i with %s', async (nth, name, told) => {
    const { content, custom_content: custom } = await ask('sample', (await startersOf('sample'))[nth] ?? '');
    expect(content).toContain(told);
    const stages = custom?.stages?.filter((stage) => stage.name === name);
    expect(stages).toEqual([
      expect.objectContaining({ status: 'completed', content: expect.stringContaining(told.slice(0, 5)) }),
    ]);
  });

  it('answers from what is attached to the question, and looks things up where that says nothing of it', async () => {
    const note = {
      type: 'text/markdown',
      title: 'note.md',
      data: 'The party of the choir starts at nine on Friday.\n\nBring a cake.',
    };
    const told = await ask('sample', 'When does the party of the choir start?', [note]);
    expect(told.content).toContain('> The party of the choir starts at nine on Friday.');
    expect(told.content).toContain('note.md');
    expect(told.custom_content?.stages?.map(({ name }) => name)).not.toContain('query_document');
    const begun = await ask('sample', 'What is in this file?', [note]);
    expect(begun.content).toMatch(/This is how note.md begins:|> Bring a cake/);
    const other = await ask('sample', 'How long may I keep a borrowed book?', [note]);
    expect(other.content).toContain('Books may be kept for three weeks');
  });

  it('asks for consent before one application looks into another', async () => {
    const [starter = ''] = await startersOf('sample-with-consent');
    const refused = await ask('sample-with-consent', starter);
    expect(refused.custom_content?.stages).toContainEqual(
      expect.objectContaining({ name: 'sample-account', status: 'failed', content: expect.stringContaining('consent') }),
    );
    expect(refused.content).not.toContain('Walden');
    const path = '/v1/consent/sample-with-consent';
    const { json: form } = await sendJson({ method: 'GET', path });
    expect(form).toEqual({
      consent: {
        'sample-with-consent': { consentRequired: false },
        'sample-account': { consentRequired: true },
        demo: { consentRequired: false },
      },
      accepted: false,
    });
    const { status } = await sendJson({ method: 'POST', path, body: { consent: (form as { consent: object }).consent } });
    expect(status).toBe(200);
    const allowed = await ask('sample-with-consent', starter);
    expect(allowed.content).toContain('Walden');
    expect(allowed.custom_content?.stages?.map((stage) => stage.status)).not.toContain('failed');
  });

  it('asks for no consent where none is needed, and is listed', async () => {
    expect((await sendJson({ method: 'GET', path: '/v1/consent/sample' })).json).toEqual({ accepted: true });
    const { json } = await sendJson({ method: 'GET', path: '/v1/models' });
    expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['sample', 'sample-account', 'sample-with-consent']),
    );
  });

  it('has nothing to complain of in the log', () => {
    expect(node.output.stdout).not.toMatch(/"level":"(warn|error)"/);
  });
});
