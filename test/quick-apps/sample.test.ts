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

/** Returns the complete message that the OpenAI client receives as a stream. */
async function chat(model: string, question: string, attachments: readonly object[] = []): Promise<Message> {
  const client = new OpenAI({ baseURL: `${node.url}/v1`, apiKey: key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: question, custom_content: { attachments } }];
  const accumulator = new Accumulator();
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
    accumulator.add(chunk as unknown as Chunk);
  const message = accumulator.getCompletion().choices[0]?.message;
  if (message === undefined) throw new Error('there is no message');
  return message;
}

function sendJson(request: TestRequest): Promise<TestResponse> {
  return node.sendRequest({ ...request, headers: withKey(key) });
}

/** Returns the starters of the application. */
async function readStarters(id: string): Promise<readonly string[]> {
  const { json } = await sendJson({ method: 'GET', path: `/v1/deployments/${id}/configuration` });
  return (json as { starters: string[] }).starters;
}

describe('the sample application of the default configuration', () => {
  it('answers from its documents, with a stage and with citations of the quoted passages', async () => {
    const { content, custom_content: custom } = await chat('sample', (await readStarters('sample'))[0] ?? '');
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
  ])('answers its starter %i with the tool %s', async (index, name, expected) => {
    const { content, custom_content: custom } = await chat('sample', (await readStarters('sample'))[index] ?? '');
    expect(content).toContain(expected);
    const stages = custom?.stages?.filter((stage) => stage.name === name);
    expect(stages).toEqual([
      expect.objectContaining({ status: 'completed', content: expect.stringContaining(expected.slice(0, 5)) }),
    ]);
  });

  it('answers from an attached file, or from its documents if the file does not contain the answer', async () => {
    const note = {
      type: 'text/markdown',
      title: 'note.md',
      data: 'The party of the choir starts at nine on Friday.\n\nBring a cake.',
    };
    const answer = await chat('sample', 'When does the party of the choir start?', [note]);
    expect(answer.content).toContain('> The party of the choir starts at nine on Friday.');
    expect(answer.content).toContain('note.md');
    expect(answer.custom_content?.stages?.map(({ name }) => name)).not.toContain('query_document');
    const summary = await chat('sample', 'What is in this file?', [note]);
    expect(summary.content).toMatch(/This is how note.md begins:|> Bring a cake/);
    const otherAnswer = await chat('sample', 'How long may I keep a borrowed book?', [note]);
    expect(otherAnswer.content).toContain('Books may be kept for three weeks');
  });

  it('requires consent before one application calls another', async () => {
    const [starter = ''] = await readStarters('sample-with-consent');
    const rejected = await chat('sample-with-consent', starter);
    expect(rejected.custom_content?.stages).toContainEqual(
      expect.objectContaining({ name: 'sample-account', status: 'failed', content: expect.stringContaining('consent') }),
    );
    expect(rejected.content).not.toContain('Walden');
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
    const accepted = await chat('sample-with-consent', starter);
    expect(accepted.content).toContain('Walden');
    expect(accepted.custom_content?.stages?.map((stage) => stage.status)).not.toContain('failed');
  });

  it('requires no consent if it calls no application that requires consent, and is listed with the other samples', async () => {
    expect((await sendJson({ method: 'GET', path: '/v1/consent/sample' })).json).toEqual({ accepted: true });
    const { json } = await sendJson({ method: 'GET', path: '/v1/models' });
    expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['sample', 'sample-account', 'sample-with-consent']),
    );
  });

  it('logs no warnings and no errors', () => {
    const lines = node.output.stdout.split('\n');
    // On a very busy machine, the database can exceed its time limit.
    expect(lines.filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"code":"overloaded"'))).toEqual([]);
  });
});
