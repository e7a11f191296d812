import { describe, expect, it } from 'vitest';
import { pipeFrom } from '#base/stream/async-items.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Chain } from '#domain/callers/caller.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import type { Target } from '#domain/calls/call.ts';
import type { CallStart } from '#domain/calls/telemetry.ts';
import { noopTelemetry } from '#test/noop-telemetry.ts';
import { CallAccount } from './call-account.ts';
import { MeteredReply } from './metered-reply.ts';
import { NormalizedReply } from './normalized-reply.ts';
import type { QuotaReservation } from './reserve-quota.ts';

const head = { id: 'up', object: 'chat.completion.chunk' as const, created: 1 };
const first = Frame.ofChunks({
  ...head,
  choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
});
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
const last = Frame.ofChunks(
  { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { ...head, choices: [], usage },
);

/** Returns the events, in order, while a call with a per-request key is read to its end or canceled after one frame. */
async function readEvents(
  frames: AsyncIterable<Frame>,
  { cancelsAtFrame = false, failsReport = false, cancelsAtReport = false } = {},
): Promise<string[]> {
  const log: string[] = [];
  const report: Chain['report'] = async (items: readonly ModelUsage[]) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (cancelsAtReport) cancelCall();
    if (failsReport) throw new Error('the report failed');
    log.push(`reported ${items.map(({ total_tokens }) => total_tokens)}`);
  };
  const chain: Chain = { path: ['app'], rights: new HeldRights(), report };
  const caller = { subject: 's', project: 'p', roles: [], chain };
  const deployment = { id: 'm', kind: 'model', ownership: null, quickApp: undefined } as const;
  const settle: QuotaReservation['settle'] = (used) => {
    log.push(used === undefined ? 'released' : `charged ${used.tokens}${used.completeUsage ? '' : ' of a partial reply'}`);
  };
  const reservation = { headers: {}, claims: [], settle };
  const call = { caller, record: noopTelemetry.startCall({} as CallStart), deployment: 'm' };
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  const cancelCall = (): void => {
    metered.cancel();
    setImmediate(() => setImmediate(resolve));
  };
  const sink = {
    push(frame: Frame): void {
      log.push(frame.bytes.includes('usage_per_model') ? 'the end' : 'a frame');
      if (cancelsAtFrame) cancelCall();
    },
    end(): void {
      log.push('over');
      resolve();
    },
    fail(error: unknown): void {
      log.push((error as Error).message);
      resolve();
    },
  };
  const target = { call, deployment } as unknown as Target;
  const account = new CallAccount({ target, clientRequest: {}, promptTokens: 3 });
  const normalized = new NormalizedReply(
    { identity: { id: 'own', created: 1 }, totals: account.usage, isStreamed: true, newId: () => 'new', messages: [] },
    sink,
  );
  const metered = new MeteredReply(target, account, normalized);
  metered.begin(reservation, (reply) => pipeFrom(() => frames, reply));
  await finished;
  return log;
}

describe('the usage of a call with a per-request key', () => {
  it('is reported before the end of the reply', async () => {
    async function* complete() {
      yield first;
      yield last;
    }
    expect(await readEvents(complete())).toEqual(['a frame', 'a frame', 'reported 12', 'charged 12', 'the end', 'over']);
  });

  it('is empty if the reply fails before it starts', async () => {
    // biome-ignore lint/correctness/useYield: a reply that fails immediately
    async function* failing(): AsyncIterable<Frame> {
      throw new Error('refused');
    }
    expect(await readEvents(failing())).toEqual(['released', 'refused']);
  });

  it('is reported before the error of a reply that breaks off', async () => {
    async function* broken() {
      yield first;
      throw new Error('broken');
    }
    expect(await readEvents(broken())).toEqual(['a frame', 'reported 4', 'charged 4 of a partial reply', 'broken']);
  });

  it('is reported if the client cancels the call', async () => {
    async function* complete() {
      yield first;
      yield last;
    }
    expect(await readEvents(complete(), { cancelsAtFrame: true })).toEqual([
      'a frame',
      'charged 4 of a partial reply',
      'reported 4',
    ]);
  });

  it('is charged, and the end is not sent, if the client cancels during the report', async () => {
    async function* complete() {
      yield first;
      yield last;
    }
    const log = await readEvents(complete(), { cancelsAtReport: true });
    // The usage is charged first, because the record of the call is written when the client cancels.
    expect(log).toEqual(['a frame', 'a frame', 'charged 12', 'reported 12']);
  });

  it('is charged if its report fails, and the reader receives that error', async () => {
    async function* complete() {
      yield first;
      yield last;
    }
    const log = await readEvents(complete(), { failsReport: true });
    expect(log).toEqual(['a frame', 'a frame', 'charged 12', 'the report failed']);
  });

  it('is reported if a frame cannot be normalized, and its source is stopped', async () => {
    let isStopped = false;
    async function* malformed() {
      try {
        yield first;
        yield {
          get chunks(): never {
            throw new Error('no chunks');
          },
        } as unknown as Frame;
        yield last;
      } finally {
        isStopped = true;
      }
    }
    expect(await readEvents(malformed())).toEqual(['a frame', 'reported 4', 'charged 4 of a partial reply', 'no chunks']);
    expect(isStopped).toBe(true);
  });
});

describe('MeteredReply', () => {
  it('fails if the upstream sends no frames, or a complete reply without choices', async () => {
    async function* noFrames(): AsyncIterable<Frame> {}
    async function* empty() {
      yield Frame.ofCompletion({ id: 'c', object: 'chat.completion', created: 1, choices: [] });
    }
    const message = 'The answer of m failed: The upstream ended the response without a reply.';
    expect(await readEvents(noFrames())).toEqual(['released', message]);
    expect(await readEvents(empty())).toEqual(['released', message]);
  });

  it('waits for content through any number of frames without content', async () => {
    async function* withoutContent() {
      for (let index = 0; index < 1000; index += 1) yield Frame.ofChunks({ ...head, choices: [], usage });
      yield first;
      yield last;
    }
    expect(await readEvents(withoutContent())).toEqual(['a frame', 'a frame', 'reported 12', 'charged 12', 'the end', 'over']);
  });
});
