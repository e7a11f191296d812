import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { loadTokenizer } from '#base/text/tokens.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { estimateTokensHigh, findVocabulary } from './vocabulary.ts';

const served = (...models: string[]) => ({ upstreams: models.map((model) => ({ protocol: 'openai', model }) as Upstream) });

it.each([
  [['gpt-4o-mini'], 'o200k_base'],
  [['gpt-4.1'], 'o200k_base'],
  [['gpt-5.1-codex', 'o3'], 'o200k_base'],
  [['gpt-4-turbo'], 'cl100k_base'],
  [['gpt-35-turbo'], 'cl100k_base'],
  [['gpt-4', 'gpt-4o'], undefined],
  [['llama-3'], undefined],
  [[], undefined],
])('findVocabulary() returns the vocabulary for %j: %s', (models, vocabulary) => {
  expect(findVocabulary(served(...models))).toBe(vocabulary);
});

const digests = Array.from({ length: 200 }, (_, nth) => hash('sha512', String(nth), 'base64')).join('');
const texts: Readonly<Record<string, string>> = {
  English: 'The quick brown fox jumps over the lazy dog, and nobody minds at all. '.repeat(20),
  German: 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. '.repeat(20),
  Russian: 'Съешь же ещё этих мягких французских булок, да выпей чаю. '.repeat(20),
  Chinese: '敏捷的棕色狐狸跳过了懒狗。人工智能正在改变世界的各个方面。'.repeat(20),
  Hindi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतंत्रता प्राप्त है। '.repeat(20),
  JSON: JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, at: id * 7919, name: `item ${id}`, isOpen: id % 2 === 0 }))),
  base64: digests,
  hex: Buffer.from(digests, 'base64').toString('hex'),
  code: `${estimateTokensHigh}`.repeat(5),
};

it.each(Object.keys(texts))(
  'estimateTokensHigh() returns at least the actual count for %s, and less than three times the count of the older vocabulary',
  async (kind) => {
    const text = texts[kind] ?? '';
    const [newer, older] = [(await loadTokenizer('o200k_base')).count(text), (await loadTokenizer('cl100k_base')).count(text)];
    expect(estimateTokensHigh(text)).toBeGreaterThanOrEqual(Math.max(newer, older));
    expect(estimateTokensHigh(text)).toBeLessThan(3 * older);
  },
);
