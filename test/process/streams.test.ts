import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainReply, text } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { eventsReply, type ScriptedUpstream, silence, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { sendAndDisconnect } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';

const megabyte = 1024 * 1024;
let upstream: ScriptedUpstream;
let node: TestProcess;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  node = await startProcess({ configuration: { models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } } } });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await upstream.close();
});

/** Returns the resident memory of the node in bytes, as reported by the operating system. */
async function readResidentBytes(): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${node.pid}/statm`, 'utf8')).split(' ');
  return Number(pages) * 4096;
}

describe('a node whose client disconnects', () => {
  it('cancels the upstream request before the response headers and during the stream', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const client = sendAndDisconnect(node.url, {
      path: getChatPath('m'),
      headers: withKey(),
      body: { messages: hello, stream: true },
    });
    const waiting = await upstream.request(index);
    await expectClosedOnDisconnect(waiting, () => client.disconnect());

    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }));
    });
    const reader = await node.stream('m', { messages: hello });
    await reader.next();
    const streaming = await upstream.request(index + 1);
    await expectClosedOnDisconnect(streaming, () => reader.disconnect());
  });

  it('cancels the upstream requests of 100 clients that disconnect concurrently', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }));
    });
    const first = upstream.requests.length;
    const readers = await Promise.all(Array.from({ length: 100 }, () => node.stream('m', { messages: hello })));
    await Promise.all(readers.map((reader) => reader.next()));
    for (const reader of readers) reader.disconnect();
    const ends = await Promise.all(upstream.requests.slice(first).map(({ closed }) => closed));
    expect(ends).toHaveLength(100);
    expect(ends.every(({ early }) => early)).toBe(true);
  });
});

describe('a node whose upstream disconnects', () => {
  it('sends an error event and continues to serve', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'half' }));
      exchange.reset();
    });
    const { content, error, isDone } = await (await node.stream('m', { messages: hello })).readRest();
    expect([content(), error?.code, isDone]).toEqual(['half', 'upstream_failed', true]);
    upstream.script(eventsReply(...plainReply('fine')));
    expect((await (await node.stream('m', { messages: hello })).readRest()).content()).toBe('fine');
  });
});

describe('a node whose client reads slowly', () => {
  it('stops reading from its upstream and limits its memory', async () => {
    let sentBytes = 0;
    let hasEnded = false;
    const piece = toEvent(text('x'.repeat(64 * 1024)));
    upstream.script(async ({ response, received }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(toEvent(delta({ role: 'assistant', content: '' })));
      while (sentBytes < 300 * megabyte && received.isOpen) {
        sentBytes += piece.length;
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), received.closed]);
      }
      hasEnded = true;
      response.end(`${toEvent(finish())}data: [DONE]\n\n`);
    });
    const beforeBytes = await readResidentBytes();
    const reader = await node.stream('m', { messages: hello });
    reader.pause();
    await untilStill(() => sentBytes);
    expect(hasEnded).toBe(false);
    expect(sentBytes).toBeLessThan(48 * megabyte);
    expect((await readResidentBytes()) - beforeBytes).toBeLessThan(64 * megabyte);
    reader.disconnect();
  });
});
