import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { ChatRuns } from './chat-runs.ts';
import type { Service, ServiceRequest } from './service.ts';
import { ServiceError } from './service-error.ts';

const chunk = (sequence_number: number, content = String(sequence_number)) => ({
  ...{ sequence_number, id: 'x', object: 'chat.completion.chunk', created: 0 },
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const completed = { object: 'chat.run', status: 'completed' };
const toResponse = (...events: object[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { status: 200 });
const fail = (status: number, code: string) => new ServiceError({ status, code, message: '' });
const connectionLost = fail(0, 'connection_lost');

/** Returns `ChatRuns` with a service that returns these replies in order, and the requests that the service received. */
function openRuns(...replies: readonly (Response | ServiceError)[]) {
  const requests: string[] = [];
  const remainingReplies = [...replies];
  const send = async (path: string, { method = 'GET' }: ServiceRequest = {}): Promise<Response> => {
    requests.push(`${method} ${path.replace('v1/chat-runs/', '')}`);
    const reply = remainingReplies.shift();
    if (reply === undefined) throw new Error('unexpected request');
    if (reply instanceof Response) return reply;
    throw reply;
  };
  return { runs: new ChatRuns({ send } as unknown as Service), requests };
}

async function join(chunks: AsyncGenerator<Chunk>): Promise<string> {
  let text = '';
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? '';
  return text;
}

const read = (chunks: AsyncGenerator<Chunk>): Promise<string> => settle(join(chunks));

/** Advances the clock until the work ends. */
async function settle<Value>(work: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const onSettled = (): void => {
    isSettled = true;
  };
  work.then(onSettled, onSettled);
  while (!isSettled) await vi.advanceTimersByTimeAsync(1_000);
  return work;
}

const ignored = { onReconnecting: () => undefined, onDuration: () => undefined };
const request = { deployment: 'd', messages: [], signal: new AbortController().signal };

describe('ChatRuns', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('addEventListener', () => undefined);
    vi.stubGlobal('removeEventListener', () => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('continues after the last chunk if the connection is lost', async () => {
    const { runs, requests } = openRuns(
      toResponse(chunk(0), chunk(1)),
      connectionLost,
      fail(503, 'shutting_down'),
      toResponse(chunk(2), completed),
    );
    const states: boolean[] = [];
    expect(
      await read(runs.start('r', request, { ...ignored, onReconnecting: (isReconnecting) => states.push(isReconnecting) })),
    ).toBe('012');
    expect(requests).toEqual(['POST r', 'GET r?starting_after=1', 'GET r?starting_after=1', 'GET r?starting_after=1']);
    expect([states[0], states.at(-1), states.includes(true)]).toEqual([false, false, true]);
  });

  it('finds an answer if the response to its start was lost', async () => {
    const { runs, requests } = openRuns(connectionLost, fail(412, 'precondition_failed'), toResponse(chunk(0), completed));
    expect(await read(runs.start('r', request, ignored))).toBe('0');
    expect(requests).toEqual(['POST r', 'POST r', 'GET r']);
  });

  it('rejects with the error of a rejected start, and of a connection that stays lost', async () => {
    const rejected = openRuns(fail(429, 'upstream_rate_limited'));
    await expect(read(rejected.runs.start('r', request, ignored))).rejects.toMatchObject({ details: { status: 429 } });
    const lost = openRuns(connectionLost, connectionLost, connectionLost, connectionLost);
    await expect(read(lost.runs.start('r', request, ignored))).rejects.toBe(connectionLost);
  });

  it('rejects with the error of the answer, even if its code is one of a lost connection', async () => {
    for (const code of ['upstream_failed', 'broke_off', 'connection_lost']) {
      const { runs, requests } = openRuns(toResponse(chunk(0), { error: { code, message: 'x' }, sequence_number: 1 }));
      await expect(read(runs.start('r', request, ignored))).rejects.toMatchObject({ details: { code } });
      expect(requests).toEqual(['POST r']);
    }
  });

  it('waits for the start of a new answer, and reports other answers as lost', async () => {
    const options = { signal: request.signal, ...ignored };
    const missing = () => fail(404, 'response_not_found');
    const isNew = openRuns(missing(), missing(), toResponse(chunk(0), completed));
    expect(await read(isNew.runs.follow('r', options, true))).toBe('0');
    const old = openRuns(missing());
    await expect(read(old.runs.follow('r', options, false))).rejects.toMatchObject({ details: { code: 'run_lost' } });
    const deleted = openRuns(toResponse(chunk(0)), missing());
    await expect(read(deleted.runs.follow('r', options, false))).rejects.toMatchObject({ details: { code: 'run_lost' } });
  });

  it('reports the duration of an answer that ended', async () => {
    const { runs } = openRuns(toResponse(chunk(0), { ...completed, duration_ms: 1_500 }));
    const durations: number[] = [];
    await read(runs.follow('r', { signal: request.signal, ...ignored, onDuration: (ms) => durations.push(ms) }, false));
    expect(durations).toEqual([1_500]);
  });

  it('reports an answer that was stopped elsewhere', async () => {
    const { runs } = openRuns(toResponse(chunk(0), { ...completed, status: 'cancelled' }));
    await expect(read(runs.start('r', request, ignored))).rejects.toMatchObject({ details: { code: 'run_canceled' } });
  });

  it('repeats a cancellation that may have arrived before the start of its answer', async () => {
    const { runs, requests } = openRuns(fail(404, 'response_not_found'), connectionLost, toResponse(completed));
    await settle(runs.cancel('r'));
    expect(requests).toEqual(Array(3).fill('POST r/cancel'));
  });
});
