import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, hello, plainReply, text } from '#test/chunks.ts';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { eventsReply, type ScriptedUpstream, silence, startScriptedUpstream, toEvent } from '#test/scripted-upstream.ts';
import { sendAndDisconnect } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { chatPath, withKey } from '#test/start-service.ts';
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

/** Memory of the node, as the system counts it. */
async function residentBytes(): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${node.pid}/statm`, 'utf8')).split(' ');
  return Number(pages) * 4096;
}

describe('a process whose caller leaves', () => {
  it('leaves its upstream before the head and in the middle', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const caller = sendAndDisconnect(node.url, {
      path: chatPath('m'),
      headers: withKey(),
      body: { messages: hello, stream: true },
    });
    const waiting = await upstream.request(index);
    await expectClosedOnDisconnect(waiting, () => caller.disconnect());

    upstream.script(async (answering) => {
      answering.head();
      await answering.events(delta({ role: 'assistant', content: 'hi' }));
    });
    const reader = await node.stream('m', { messages: hello });
    await reader.next();
    const streaming = await upstream.request(index + 1);
    await expectClosedOnDisconnect(streaming, () => reader.disconnect());
  });

  it('lets go of a hundred callers that leave at once', async () => {
    upstream.script(async (answering) => {
      answering.head();
      await answering.events(delta({ role: 'assistant', content: 'hi' }));
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

describe('a process whose upstream dies', () => {
  it('in the middle tells its caller so, and serves on', async () => {
    upstream.script(async (answering) => {
      answering.head();
      await answering.events(delta({ role: 'assistant', content: 'half' }));
      answering.reset();
    });
    const { content, error, isDone } = await (await node.stream('m', { messages: hello })).readRest();
    expect([content(), error?.code, isDone]).toEqual(['half', 'upstream_failed', true]);
    upstream.script(eventsReply(...plainReply('fine')));
    expect((await (await node.stream('m', { messages: hello })).readRest()).content()).toBe('fine');
  });
});

describe('a process whose reader is slow', () => {
  it('stops reading its upstream and keeps its memory', async () => {
    let sentBytes = 0;
    let isOver = false;
    const piece = toEvent(text('x'.repeat(64 * 1024)));
    upstream.script(async ({ response, received }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(toEvent(delta({ role: 'assistant', content: '' })));
      while (sentBytes < 300 * megabyte && received.isOpen) {
        sentBytes += piece.length;
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), received.closed]);
      }
      isOver = true;
      response.end(`${toEvent(finish())}data: [DONE]\n\n`);
    });
    const beforeBytes = await residentBytes();
    const reader = await node.stream('m', { messages: hello });
    reader.pause();
    await untilStill(() => sentBytes);
    expect(isOver).toBe(false);
    expect(sentBytes).toBeLessThan(48 * megabyte);
    expect((await residentBytes()) - beforeBytes).toBeLessThan(64 * megabyte);
    reader.disconnect();
  }, 30_000);
});
