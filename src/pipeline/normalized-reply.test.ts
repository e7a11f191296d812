import { describe, expect, it } from 'vitest';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { NormalizedReply } from './normalized-reply.ts';
import { type TotalsFacts, UsageTotals } from './usage-totals.ts';

interface Facts extends TotalsFacts {
  readonly isStreamed: boolean;
}

const configured = { ownership: null, quickApp: undefined };
const facts: Facts = {
  deployment: { ...configured, id: 'gpt', kind: 'model' },
  isStreamed: true,
  promptTokens: 3,
  inner: { items: [] },
};

/** A reply that is normalized, with its output. */
class TestReply {
  readonly totals: UsageTotals;
  readonly #reply: NormalizedReply;
  #frames: Frame[] = [];
  #error: unknown;

  constructor(facts: Facts) {
    this.totals = new UsageTotals(facts);
    const sink = {
      push: (frame: Frame) => void this.#frames.push(frame),
      end() {},
      fail: (error: unknown) => {
        this.#error = error;
      },
    };
    this.#reply = new NormalizedReply(
      {
        identity: { id: 'own', created: 7 },
        totals: this.totals,
        isStreamed: facts.isStreamed,
        newId: () => 'new',
        messages: [],
      },
      sink,
    );
  }

  get hasStarted(): boolean {
    return this.#reply.hasStarted;
  }

  push(frame: RawFrame): Frame[] {
    this.#reply.push(frame);
    return this.#flush();
  }

  end(): Frame[] {
    this.totals.complete();
    this.#reply.end();
    return this.#flush();
  }

  closeStages(): Frame[] {
    const error = new Error('broken');
    this.#reply.fail(error);
    expect(this.#error).toBe(error);
    return this.#flush();
  }

  #flush(): Frame[] {
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }
}

const head = { id: 'up', object: 'chat.completion.chunk' as const, created: 1, model: 'm' };
const usage = { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 };
const ownEntry = { index: 0, model: 'gpt', name: 'gpt' };

function event(content: object): string {
  return `data: ${JSON.stringify({ ...head, ...content })}\n\n`;
}

function choice(delta: object, finish_reason: string | null = null): object {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function toFrames(events: string): RawFrame[] {
  return listEventData(events).map((data) => Frame.ofEvent(`data: ${data}\n\n`, JSON.parse(data)));
}

function run(events: readonly string[], changes: Partial<Facts> = {}): { bytes: string; chunks: Chunk[]; testReply: TestReply } {
  const testReply = new TestReply({ ...facts, ...changes });
  const frames = [...events.flatMap(toFrames).flatMap((frame) => testReply.push(frame)), ...testReply.end()];
  const bytes = frames.map((frame) => frame.bytes).join('');
  return { bytes, chunks: toFrames(bytes).flatMap((frame) => frame.chunks as readonly Chunk[]), testReply };
}

describe('NormalizedReply for a stream', () => {
  const role = event(choice({ role: 'assistant', content: '' }));
  const hello = event({ ...choice({ content: 'hello' }), usage: null, odd: 1.0 });
  const stop = event(choice({}, 'stop'));

  it('preserves the bytes of valid events and adds usage and statistics at the end', () => {
    const { bytes, chunks } = run([role + hello, stop, event({ choices: [], usage })]);
    expect(bytes.startsWith(role + hello + stop)).toBe(true);
    expect(chunks.slice(3)).toEqual([
      { ...head, choices: [], usage, statistics: { usage_per_model: [{ ...ownEntry, ...usage }] } },
    ]);
  });

  it('completes missing fields and uses one ID in all chunks', () => {
    const azure = 'data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[]}\n\n';
    const minimal = 'data: {"choices":[{"delta":{"role":"user","content":"hi"}}]}\n\n';
    const { chunks } = run([azure, minimal, hello, stop]);
    expect(chunks.slice(0, 2)).toEqual([
      {
        id: 'own',
        object: 'chat.completion.chunk',
        created: 7,
        choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
      },
      { id: 'own', object: 'chat.completion.chunk', created: 7, model: '', choices: [], prompt_filter_results: [] },
    ]);
    const named = run([azure, hello, stop]).chunks;
    expect(new Set(named.map(({ id }) => id))).toEqual(new Set(['up']));
  });

  it('drops repeated finish events of a choice', () => {
    const { chunks } = run([role + hello, stop, stop]);
    expect(chunks.filter(({ choices }) => choices.length > 0)).toHaveLength(3);
  });

  it('rejects an endless start, too many choices, and too many open stages', () => {
    const testReply = new TestReply(facts);
    const emptyFrame = toFrames(event({ choices: [], odd: 'x'.repeat(1000) }))[0] as Frame;
    const pushManyFrames = (): void => {
      for (let at = 0; at < 2000; at += 1) testReply.push(emptyFrame);
    };
    expect(pushManyFrames).toThrow('before the first choice');
    const choices = Array.from({ length: 10_001 }, (_, index) => ({ index, delta: {}, finish_reason: null }));
    expect(() => run([event({ choices })])).toThrow('a choice with the index 10000');
    const negativeIndex = { choices: [{ index: -1, delta: {}, finish_reason: null }] };
    expect(() => run([event(negativeIndex)])).toThrow('a choice with the index -1');
    const stages = Array.from({ length: 10_001 }, (_, index) => ({ index, name: 'x', status: null }));
    expect(() => run([event(choice({ custom_content: { stages } }))])).toThrow('more than 10000 open stages');
  });

  it('adds the role if the upstream omits it', () => {
    const { chunks } = run([hello, stop]);
    expect(chunks[0]).toEqual({
      ...head,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    });
    expect(chunks[1]?.choices[0]?.delta).toEqual({ content: 'hello' });
  });

  it('sends the role before a first event without choices', () => {
    const early = event({ choices: [], prompt_filter_results: [] });
    const { chunks } = run([early, role, stop]);
    expect(chunks.map(({ choices }) => choices[0]?.delta.role)).toEqual(['assistant', undefined, undefined, undefined]);
    expect(chunks[1]).toHaveProperty('prompt_filter_results');
  });

  it('sends usage once, even if the upstream repeats it in every event', () => {
    const { chunks } = run([
      event({ ...choice({ role: 'assistant', content: 'a' }), usage }),
      event({ ...choice({}, 'stop'), usage: { ...usage, completion_tokens: 9 } }),
    ]);
    expect(chunks.filter((chunk) => chunk.usage)).toHaveLength(1);
    expect(chunks.find((chunk) => chunk.usage)?.usage).toEqual({ prompt_tokens: 2, completion_tokens: 9, total_tokens: 11 });
  });

  it('sends one finish reason for each choice', () => {
    const { chunks } = run([role, stop, stop, event(choice({}, 'length'))]);
    expect(chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason)).filter(Boolean)).toEqual(['stop']);
  });

  it('finishes a choice that the upstream did not finish', () => {
    const { chunks } = run([role + hello]);
    expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  });

  it('estimates usage that no upstream reports and marks it as estimated', () => {
    const { chunks } = run([role + hello.repeat(8), stop]);
    expect(chunks.at(-1)?.statistics?.usage_per_model).toEqual([
      { ...ownEntry, prompt_tokens: 3, completion_tokens: 10, total_tokens: 13, estimated: true },
    ]);
  });

  it('counts the text so far if the reply breaks off', () => {
    const testReply = new TestReply(facts);
    for (const frame of toFrames(role + hello.repeat(4))) testReply.push(frame);
    expect(testReply.totals.getTotals().statistics.usage_per_model).toEqual([
      { ...ownEntry, prompt_tokens: 3, completion_tokens: 5, total_tokens: 8, estimated: true },
    ]);
  });

  it('marks only the open stages as failed', () => {
    const testReply = new TestReply(facts);
    const stages = (stage: object) => event(choice({ custom_content: { stages: [stage] } }));
    const events = [
      stages({ index: 0, name: 'a', status: null }),
      stages({ index: 1, name: 'b', status: null }),
      stages({ index: 0, status: 'completed' }),
    ];
    for (const frame of [role, ...events].flatMap(toFrames)) testReply.push(frame);
    const closing = testReply.closeStages().flatMap((frame) => frame.chunks);
    expect(closing.map(({ choices }) => choices[0]?.delta)).toEqual([
      { custom_content: { stages: [{ index: 1, status: 'failed' }] } },
    ]);
  });

  it('ignores keys that the text quotes', () => {
    const quoting = event(choice({ content: '{"usage":{"prompt_tokens":1},"finish_reason":"stop"}' }));
    const { bytes } = run([role + quoting, stop, event({ choices: [], usage })]);
    expect(bytes.startsWith(role + quoting + stop)).toBe(true);
  });

  it('opens and finishes every choice', () => {
    const at = (index: number, delta: object, finish_reason: string | null = null) =>
      event({ choices: [{ index, delta, finish_reason }] });
    const { chunks } = run([at(1, { content: 'b' }), at(0, { content: 'a' }), at(0, {}, 'stop'), at(1, {}, 'length')]);
    expect(
      chunks.map(({ choices }) =>
        choices.map(({ index, delta, finish_reason }) => [index, delta.role ?? delta.content ?? finish_reason]),
      ),
    ).toEqual([[[1, 'assistant']], [[1, 'b']], [[0, 'assistant']], [[0, 'a']], [[0, 'stop']], [[1, 'length']], []]);
  });
});

describe('NormalizedReply for an application', () => {
  const application = { ...configured, id: 'gpt', kind: 'application' } as const;
  const reply = event(choice({ role: 'assistant', content: 'x' }, 'stop'));

  it('keeps its statistics, adds missing names, and numbers the items', () => {
    const item = { index: 5, name: 'inner', prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const { chunks } = run([reply, event({ choices: [], statistics: { usage_per_model: [item] } })], { deployment: application });
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
    expect(chunks.at(-1)?.statistics).toEqual({ usage_per_model: [{ ...item, index: 0, model: 'inner' }] });
  });

  it('uses the usage of its inner calls if it reports no usage', () => {
    const inner = [{ index: 0, model: 'in', name: 'in', ...usage }];
    const { chunks } = run([reply], { deployment: application, inner: { items: inner } });
    expect(chunks.at(-1)?.statistics).toEqual({ usage_per_model: inner });
  });

  it('has at least the usage of its inner calls if it reports less', () => {
    const inner = [{ index: 0, model: 'in', name: 'in', prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }];
    const reported = event({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
    const { chunks } = run([reply, reported], { deployment: application, inner: { items: inner } });
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  });

  it('has estimated usage if it has no inner calls and reports nothing, unless it is a quick app', () => {
    const { chunks } = run([reply], { deployment: application });
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 });
    expect(chunks.at(-1)?.statistics?.usage_per_model).toMatchObject([{ model: application.id, estimated: true }]);
    const quick = run([reply], { deployment: { ...application, quickApp: {} as never } });
    expect(quick.chunks.at(-1)?.statistics).toEqual({ usage_per_model: [] });
  });
});

describe('NormalizedReply for a complete reply', () => {
  const completion = {
    id: 'c',
    object: 'chat.completion' as const,
    created: 1,
    choices: [{ index: 0, message: { role: 'assistant' as const, content: 'hello wo' }, finish_reason: 'stop' as const }],
  };

  function normalizeComplete(value: object, changes: Partial<Facts> = {}): unknown {
    const bytes = toLatin1(` ${JSON.stringify(value)} \n`);
    const testReply = new TestReply({ ...facts, isStreamed: false, ...changes });
    const frames = [...testReply.push(Frame.ofCompletion(value as typeof completion, bytes)), ...testReply.end()];
    return changes.isStreamed
      ? frames.flatMap((frame) => frame.chunks)
      : JSON.parse(fromLatin1(frames.map((frame) => frame.bytes).join('')));
  }

  it('completes missing fields', () => {
    expect(normalizeComplete({ choices: [{ message: { content: 'x' } }] })).toMatchObject({
      ...{ id: 'own', object: 'chat.completion', created: 7 },
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    });
  });

  it('completes open stages next to items that are not objects', () => {
    const message = { content: 'x', custom_content: { stages: [null, { name: 'One' }] } };
    expect(normalizeComplete({ choices: [{ message, finish_reason: 'stop' }] })).toMatchObject({
      choices: [{ message: { custom_content: { stages: [null, { index: 0, name: 'One', status: 'completed' }] } } }],
    });
  });

  it('includes calls and thoughts in the estimate if usage or its counts are missing', () => {
    const message = {
      role: 'assistant',
      reasoning_content: 'x'.repeat(400),
      tool_calls: [{ function: { name: 'f', arguments: 'y'.repeat(399) } }],
    };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    for (const reported of [undefined, { total_tokens: 9 }])
      expect(normalizeComplete({ ...completion, choices, usage: reported })).toMatchObject({
        usage: { prompt_tokens: 3, completion_tokens: 200 },
      });
  });

  it('accepts deployment names in any script in the added statistics', () => {
    const id = 'модель/Ģ"';
    const named = { ...ownEntry, model: id, name: id };
    expect(normalizeComplete({ ...completion, usage }, { deployment: { ...configured, id, kind: 'model' } })).toMatchObject({
      statistics: { usage_per_model: [named] },
    });
  });

  it('adds statistics to the original bytes', () => {
    expect(normalizeComplete({ ...completion, usage })).toEqual({
      ...completion,
      usage,
      statistics: { usage_per_model: [{ ...ownEntry, ...usage }] },
    });
  });

  it('adds estimated usage if the reply has no usage', () => {
    const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    expect(normalizeComplete(completion)).toEqual({
      ...completion,
      usage: counts,
      statistics: { usage_per_model: [{ ...ownEntry, ...counts, estimated: true }] },
    });
  });

  it('corrects a total that is not the sum', () => {
    expect(normalizeComplete({ ...completion, usage: { ...usage, total_tokens: 1 } })).toMatchObject({ usage });
  });

  it('replaces statistics instead of repeating them', () => {
    expect(normalizeComplete({ ...completion, usage, statistics: { usage_per_model: [] } })).toMatchObject({
      statistics: { usage_per_model: [{ ...ownEntry, ...usage }] },
    });
  });

  it('becomes a stream if the client requested a stream', () => {
    const chunks = normalizeComplete({ ...completion, usage }, { isStreamed: true }) as Chunk[];
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, 'stop', undefined]);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: 'hello wo' });
    expect(chunks.at(-1)?.statistics?.usage_per_model).toEqual([{ ...ownEntry, ...usage }]);
  });
});

describe('NormalizedReply for a reply that is relayed in another dialect', () => {
  const relayed = (bytes: string, usage?: object, textBytes = 0): Frame =>
    Frame.ofNative(bytes, {
      dialect: 'messages',
      isCompleteReply: false,
      isLast: bytes.startsWith('event: message_stop'),
      textBytes,
      usage: usage as never,
    });
  const counts = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, prompt_tokens_details: { cached_tokens: 4 } };

  it('passes every byte and adds no data', () => {
    const testReply = new TestReply(facts);
    const frames = [relayed('event: a\n\n'), relayed('event: b\n\n', counts)];
    expect(frames.flatMap((frame) => testReply.push(frame))).toEqual(frames);
    expect([...testReply.end(), ...testReply.closeStages()]).toEqual([]);
  });

  it('holds the end of the message back until the usage is counted', () => {
    const testReply = new TestReply(facts);
    const [event, end] = [relayed('event: a\n\n'), relayed('event: message_stop\n\n')];
    expect([testReply.push(event), testReply.push(end), testReply.end()]).toEqual([[event], [], [end]]);
  });

  it('uses the last counts of the upstream, including those of its cache', () => {
    const testReply = new TestReply(facts);
    for (const frame of [relayed('a', counts, 4_000), relayed('b', { ...counts, completion_tokens: 9 })]) testReply.push(frame);
    testReply.end();
    expect(testReply.totals.getTotals().usage).toEqual({ ...counts, completion_tokens: 9, total_tokens: 19 });
    expect(testReply.totals.getTotals().statistics.usage_per_model).toEqual([
      { ...ownEntry, prompt_tokens: 10, completion_tokens: 9, total_tokens: 19 },
    ]);
  });

  it('estimates the tokens that were not reported if the reply breaks off', () => {
    const testReply = new TestReply(facts);
    testReply.push(relayed('a', counts, 4_000));
    expect(testReply.totals.getTotals().statistics.usage_per_model).toMatchObject([
      { prompt_tokens: 10, completion_tokens: 1_000 },
    ]);
    expect(testReply.totals.getTotals().usage).toMatchObject({
      completion_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 4 },
    });
  });

  it('estimates all usage if the upstream reports none', () => {
    const testReply = new TestReply(facts);
    testReply.push(relayed('a', undefined, 40));
    testReply.end();
    expect(testReply.totals.getTotals().statistics.usage_per_model).toMatchObject([
      { prompt_tokens: 3, completion_tokens: 10, estimated: true },
    ]);
  });
});

it('NormalizedReply passes on the error even if the reader rejects the end of an open stage', () => {
  const errors: unknown[] = [];
  let acceptsFrames = true;
  const sink = {
    push() {
      if (!acceptsFrames) throw new Error('no such stage');
    },
    end() {},
    fail: (error: unknown) => void errors.push(error),
  };
  const totals = new UsageTotals({
    deployment: { ...configured, id: 'm', kind: 'model' },
    promptTokens: 1,
    inner: { items: [] },
  });
  const reply = new NormalizedReply(
    { identity: { id: 'own', created: 7 }, totals, isStreamed: true, newId: () => 'new', messages: [] },
    sink,
  );
  const delta = { custom_content: { stages: [{ index: 1e9, name: 'x' }] } };
  reply.push(Frame.ofRawChunks({ choices: [{ index: 0, delta, finish_reason: null }] } as never));
  acceptsFrames = false;
  reply.fail('broken');
  expect(errors).toEqual(['broken']);
});
