import { describe, expect, it } from 'vitest';
import { runIsolated } from '#base/isolation/isolated-process.ts';
import type { Paper } from '../../bench/retrieval/corpus/paper.ts';
import { makeDocument } from '../../bench/retrieval/make/make-document.ts';

const folder = new URL('../../', import.meta.url);

describe('the built document process', () => {
  const parts = [{ heading: 'Cleaning', paragraphs: ['Rinse the sieve.'], table: { header: ['Code'], rows: [['E-1']] } }];

  it.each(['pdf', 'docx', 'pptx', 'xlsx', 'md', 'html', 'csv'])('reads %s with its restricted permissions', async (format) => {
    const file = `manual.${format}`;
    const paper: Paper = { file, title: 'The manual', parts };
    const work = runIsolated({
      program: new URL('dist/document-process.js', folder),
      task: {
        label: { name: file, contentType: 'application/octet-stream' },
        bounds: { maxPages: 10, maxUnpackedBytes: 10_000_000 },
        maxPassages: 100,
      },
      bytes: new Uint8Array(makeDocument(paper)),
      bounds: { timeoutMs: 50_000, maxMemoryMb: 300 },
      signal: new AbortController().signal,
    });
    expect(JSON.stringify(await work)).toContain('E-1');
  });
});
