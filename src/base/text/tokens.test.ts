import { expect, it } from 'vitest';
import { loadTokenizer } from './tokens.ts';

it('count() is as fast after many different words', async () => {
  const tokenizer = await loadTokenizer();
  const createText = (nth: number): string =>
    Array.from({ length: 6_000 }, (_, index) => ((nth * 6_000 + index + 7) * 2_654_435_761).toString(36)).join('');
  const countAll = (texts: readonly string[]): number => {
    const { user } = process.threadCpuUsage();
    for (const text of texts) tokenizer.count(text);
    return process.threadCpuUsage().user - user;
  };
  const texts = Array.from({ length: 60 }, (_, nth) => createText(nth));
  const first = countAll(texts.slice(0, 10));
  countAll(texts.slice(10, 50));
  expect(countAll(texts.slice(50)) / first).toBeLessThan(4);
});
