import { expect, it } from 'vitest';
import type { Upstream } from '../upstreams/upstream.ts';
import { findVocabulary } from './find-vocabulary.ts';

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
