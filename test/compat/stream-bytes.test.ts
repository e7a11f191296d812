import { describe, expect, it } from 'vitest';
import { delta, finish, hello, plainReply, text, usage } from '#test/chunks.ts';
import type { StreamContent } from '#test/read-events.ts';
import { piecesReply, toEvent } from '#test/scripted-upstream.ts';
import { startModel } from '#test/start-model.ts';

const { upstream, service } = await startModel();

async function stream(...pieces: readonly (string | Buffer)[]): Promise<StreamContent> {
  upstream.script(piecesReply(...pieces));
  const reader = await service.stream('m', { messages: hello });
  return reader.readRest();
}

const words = ['Grüße ', '😀👩‍👩‍👧', ' 模型 ', '"quoted"\\\n', 'ok'];
const completeReply = Buffer.from(
  `${plainReply(...words)
    .map(toEvent)
    .join('')}data: [DONE]\n\n`,
);

describe('stream bytes of an upstream', () => {
  it('can be split at any position', async () => {
    const expected = (await stream(completeReply)).data;
    for (let index = 1; index < completeReply.length; index += 1) {
      const { data, isDone } = await stream(completeReply.subarray(0, index), completeReply.subarray(index));
      expect({ at: index, data, isDone }).toEqual({ at: index, data: expected, isDone: true });
    }
  });

  it('can arrive one by one', async () => {
    const { content, isDone, usages } = await stream(...Array.from(completeReply, (byte) => Buffer.from([byte])));
    expect([content(), isDone, usages.length]).toEqual([words.join(''), true, 1]);
  });

  it.each([
    ['CRLF', (events: string) => events.replaceAll('\n', '\r\n')],
    ['CR', (events: string) => events.replaceAll('\n', '\r')],
    ['no space after the colon', (events: string) => events.replaceAll('data: ', 'data:')],
    ['comments', (events: string) => `: hello\n\n${events.replaceAll('data: ', ': ping\ndata: ')}`],
    ['event names and IDs', (events: string) => events.replaceAll('data: ', 'event: chunk\nid: 7\nretry: 10\ndata: ')],
    ['more empty lines', (events: string) => events.replaceAll('\n\n', '\n\n\n\n')],
    ['a byte order mark', (events: string) => `\uFEFF${events}`],
    ['an end mark without an empty line after it', (events: string) => events.trimEnd()],
    ['an end mark with white space', (events: string) => events.replace('[DONE]', '[DONE] ')],
  ])('can have %s', async (_what, change) => {
    const events = change(String(completeReply));
    for (const pieces of [[events], [...events].map((each) => each)]) {
      const { content, isDone, error, usages } = await stream(...pieces);
      expect([content(), isDone, error, usages.length]).toEqual([words.join(''), true, undefined, 1]);
    }
  });

  it('can spread an event over several data lines', async () => {
    const spread = JSON.stringify(text('in lines'), undefined, 1)
      .split('\n')
      .map((line) => `data: ${line}\n`)
      .join('');
    const { content, isDone } = await stream(
      toEvent(delta({ role: 'assistant' })),
      `${spread}\n`,
      toEvent(finish()),
      'data: [DONE]\n\n',
    );
    expect([content(), isDone]).toEqual(['in lines', true]);
  });

  it('can contain an event of 300 kB', async () => {
    const long = '漢字"\\\n'.repeat(50_000);
    const { content, isDone } = await stream(
      toEvent(delta({ role: 'assistant' })),
      toEvent(text(long)),
      toEvent(finish()),
      toEvent(usage(1, 1)),
      'data: [DONE]\n\n',
    );
    expect(content() === long).toBe(true);
    expect(isDone).toBe(true);
  });

  it('are ignored after the end mark', async () => {
    const { data, isDone } = await stream(completeReply, toEvent(text('after the end')));
    expect(data.join('')).not.toContain('after the end');
    expect(isDone).toBe(true);
  });

  it('cause a failure and are canceled if an event grows without end', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }));
      const megabyte = 'x'.repeat(1024 * 1024);
      for (let sent = 0; sent < 20 && exchange.received.isOpen; sent += 1)
        await exchange.bytes(sent === 0 ? `data: "${megabyte}` : megabyte);
      exchange.response.end();
    });
    const { error, isDone } = await (await service.stream('m', { messages: hello })).readRest();
    expect([error?.code, isDone]).toEqual(['upstream_failed', true]);
    expect((await upstream.requests.at(-1)?.closed)?.early).toBe(true);
  });

  it('cause a failure if an event that must be parsed is not JSON', async () => {
    const { error, isDone, content } = await stream(
      toEvent(delta({ role: 'assistant', content: 'hi' })),
      'data: {"usage": 1, broken\n\n',
      'data: [DONE]\n\n',
    );
    expect([content(), error?.code, isDone]).toEqual(['hi', 'upstream_failed', true]);
  });
});
