import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '#base/text/tokens.ts';
import type { Message } from '#contract/chat/message.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { createExactCounter } from './count-messages.ts';

function createMessage(texts: readonly string[]): Message {
  return { role: 'user', content: texts.map((text) => ({ type: 'text', text })) };
}

describe('createExactCounter', () => {
  it('yields to the event loop between the parts of a message', async () => {
    // Numbers of base 36 without a break are slow to tokenize.
    const parts = Array.from({ length: 25 }, (_, part) =>
      Array.from({ length: 10_000 }, (_, index) => ((part * 10_000 + index + 7) * 2_654_435_761).toString(36)).join(''),
    );
    await loadTokenizer();
    const work = (): Promise<unknown> => createExactCounter('o200k_base', [createMessage(parts)]);
    expect(await measureEventLoopBlock(work)).toBeLessThan(1_500);
  });

  it('extrapolates after 500,000 characters', async () => {
    const texts = Array.from({ length: 40 }, (_, part) => `Part ${part} of a long report about rivers. `.repeat(1_200));
    const tokenizer = await loadTokenizer();
    const exact = texts.reduce((sum, text) => sum + tokenizer.count(text), 0);
    const counter = await createExactCounter('o200k_base', [createMessage(texts)]);
    const count = counter.count(createMessage(texts));
    expect(Math.abs(count - exact)).toBeLessThan(exact / 20);
  });

  it('counts the tools of a request once', async () => {
    let reads = 0;
    const tools = [
      {
        type: 'function' as const,
        get function() {
          reads += 1;
          return { name: 'search' };
        },
      },
    ];
    const counter = await createExactCounter('o200k_base', []);
    const counts = [1, 2, 3].map(() => counter.countSettings({ messages: [], tools }));
    expect(new Set(counts).size).toBe(1);
    expect(reads).toBe(1);
  });
});
