import { describe, expect, it } from 'vitest';
import { type Exchange, type HttpClient, HttpError, type HttpRequest, type ReplyListener } from './client.ts';
import { openReply, readText } from './read-reply.ts';

const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 };
const request: HttpRequest = { method: 'GET', url: new URL('http://a.example/'), headers: {}, body: null, timeouts };

class ScriptedClient implements HttpClient, Exchange {
  readonly controls: string[] = [];
  #listener: ReplyListener | null = null;

  get listener(): ReplyListener {
    if (this.#listener === null) throw new Error('nothing was sent');
    return this.#listener;
  }

  send(_request: HttpRequest, listener: ReplyListener): Exchange {
    this.#listener = listener;
    return this;
  }

  close(): void {}
  pause(): void {
    this.controls.push('pause');
  }
  resume(): void {
    this.controls.push('resume');
  }
  endWithin(): void {
    this.controls.push('endWithin');
  }
  cancel(): void {
    this.controls.push('cancel');
  }
}

async function openScripted(signal = new AbortController().signal) {
  const client = new ScriptedClient();
  const opening = openReply(client, request, signal);
  client.listener.head(200, { a: 'b' });
  const reply = await opening;
  return { client, listener: client.listener, reply, body: reply.body[Symbol.asyncIterator]() };
}

describe('openReply', () => {
  it('resolves with the head', async () => {
    const { reply } = await openScripted();
    expect([reply.status, reply.headers]).toEqual([200, { a: 'b' }]);
  });

  it('rejects with an error that occurs before the head', async () => {
    const client = new ScriptedClient();
    const opening = openReply(client, request, new AbortController().signal);
    client.listener.fail(new HttpError('connect', 'no'));
    await expect(opening).rejects.toMatchObject({ kind: 'connect' });
  });

  it('sends no request if the signal is already aborted', async () => {
    const client = new ScriptedClient();
    const reason = new Error('gone');
    await expect(openReply(client, request, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(() => client.listener).toThrow();
  });

  it('cancels the exchange and rejects with the reason if it is aborted before the head', async () => {
    const client = new ScriptedClient();
    const caller = new AbortController();
    const reason = new Error('gone');
    const opening = openReply(client, request, caller.signal);
    caller.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(client.controls).toEqual(['cancel']);
  });
});

describe('HttpReply.body', () => {
  it('passes each piece to a waiting reader', async () => {
    const { listener, body } = await openScripted();
    const first = body.next();
    listener.bytes('a');
    expect(await first).toEqual({ done: false, value: 'a' });
    const last = body.next();
    listener.end();
    expect(await last).toEqual({ done: true, value: undefined });
    expect(await body.next()).toEqual({ done: true, value: undefined });
  });

  it('joins the pieces that arrive while the reader is busy', async () => {
    const { listener, body } = await openScripted();
    listener.bytes('a');
    listener.bytes('b');
    listener.end();
    expect(await body.next()).toEqual({ done: false, value: 'ab' });
    expect((await body.next()).done).toBe(true);
  });

  it('pauses once above 64 kB queued, and resumes when drained', async () => {
    const { client, listener, body } = await openScripted();
    listener.bytes('x'.repeat(65_536));
    expect(client.controls).toEqual([]);
    listener.bytes('y');
    listener.bytes('z');
    expect(client.controls).toEqual(['pause']);
    expect((await body.next()).value?.length).toBe(65_538);
    expect(client.controls).toEqual(['pause', 'resume']);
  });

  it('throws an error once, after the content that arrived before it', async () => {
    const { listener, body } = await openScripted();
    listener.bytes('a');
    listener.fail(new HttpError('closed', 'no'));
    expect((await body.next()).value).toBe('a');
    await expect(body.next()).rejects.toMatchObject({ kind: 'closed' });
    expect((await body.next()).done).toBe(true);
  });

  it('throws an error to a waiting reader', async () => {
    const { listener, body } = await openScripted();
    const next = body.next();
    listener.fail(new HttpError('idle_timeout', 'no'));
    await expect(next).rejects.toMatchObject({ kind: 'idle_timeout' });
  });

  it.each(['waiting', 'busy'])('throws the reason immediately after an abort to a %s reader', async (how) => {
    const caller = new AbortController();
    const { client, listener, body } = await openScripted(caller.signal);
    const reason = new Error('gone');
    const waiting = how === 'waiting' ? body.next() : null;
    if (how === 'busy') listener.bytes('a');
    caller.abort(reason);
    await expect(waiting ?? body.next()).rejects.toBe(reason);
    expect(client.controls).toEqual(['cancel']);
    expect((await body.next()).done).toBe(true);
  });

  it('ignores an abort after the end', async () => {
    const caller = new AbortController();
    const { client, listener, body } = await openScripted(caller.signal);
    listener.bytes('a');
    listener.end();
    caller.abort();
    expect((await body.next()).value).toBe('a');
    expect((await body.next()).done).toBe(true);
    expect(client.controls).toEqual([]);
  });

  it('cancels the exchange if the reader leaves the loop early', async () => {
    const { client, listener, reply } = await openScripted();
    listener.bytes('a');
    for await (const piece of reply.body) {
      expect(piece).toBe('a');
      break;
    }
    expect(client.controls).toEqual(['cancel']);
  });

  it('does not cancel the exchange if the reader leaves the loop after the end', async () => {
    const { client, listener, reply } = await openScripted();
    listener.bytes('a');
    listener.end();
    for await (const _piece of reply.body) break;
    expect(client.controls).toEqual([]);
  });

  it('rejects a second concurrent read immediately', async () => {
    const { body } = await openScripted();
    void body.next();
    await expect(body.next()).rejects.toThrow('the previous read has not finished');
  });
});

describe('readText', () => {
  it('reads UTF-8 that is split inside a character', async () => {
    const { listener, reply } = await openScripted();
    const text = Buffer.from('grüße 👋').toString('latin1');
    const reading = readText(reply, 100);
    for (const byte of text) {
      listener.bytes(byte);
      await Promise.resolve();
    }
    listener.end();
    expect(await reading).toBe('grüße 👋');
  });

  it('accepts exactly the maximum number of bytes', async () => {
    const exact = await openScripted();
    exact.listener.bytes('abc');
    exact.listener.end();
    expect(await readText(exact.reply, 3)).toBe('abc');
    const over = await openScripted();
    over.listener.bytes('abcd');
    await expect(readText(over.reply, 3)).rejects.toMatchObject({ kind: 'too_large' });
    expect(over.client.controls).toEqual(['cancel']);
  });

  it('throws the error of the reply', async () => {
    const { listener, reply } = await openScripted();
    listener.fail(new HttpError('malformed', 'no'));
    await expect(readText(reply, 3)).rejects.toMatchObject({ kind: 'malformed' });
  });
});
