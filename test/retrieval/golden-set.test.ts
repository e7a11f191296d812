import { describe, expect, it } from 'vitest';
import { createCorpus } from '../../bench/retrieval/corpus/corpus.ts';
import type { GoldenQuestion } from '../../bench/retrieval/judge.ts';
import questions from '../../bench/retrieval/questions.json' with { type: 'json' };
import { chunkBlocks } from '../../src/tools/retrieval/loading/chunk-blocks.ts';
import { loadBytes } from '../../src/tools/retrieval/loading/load-bytes.ts';
import { defaultDocumentBounds } from '../../src/tools/retrieval/loading/load-document.ts';

describe('the golden set of the retrieval benchmark', () => {
  it('has at least 150 questions about 40 documents in 9 formats, with answers that are on the stated page', async () => {
    const read = await Promise.all(
      createCorpus().map(async ({ file, bytes }) => {
        const { format, blocks } = await loadBytes(bytes, { name: file, contentType: '' }, defaultDocumentBounds);
        return { file, format, passages: chunkBlocks(blocks) };
      }),
    );
    expect(read).toHaveLength(40);
    expect(new Set(read.map(({ format }) => format)).size).toBe(9);
    expect(questions.length).toBeGreaterThanOrEqual(150);
    const answers = (questions as GoldenQuestion[]).flatMap((golden) => golden.answers);
    const missing = answers.filter(({ file, page, has }) => {
      const passages = read.find((document) => document.file === file)?.passages ?? [];
      return !passages.some((passage) => passage.page === page && passage.text.replaceAll('\n', ' ').includes(has));
    });
    expect(missing).toEqual([]);
  });
});
