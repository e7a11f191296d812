import { expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { readApplicationEntry, withEntryNames } from '../application-entry.ts';

it('an application with thousands of unknown features is rejected without a comparison of each one', async () => {
  const features = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`configurationEn${index}`, 1]));
  const entry = withEntryNames({ endpoint: 'http://app.example', features });
  let errors: readonly unknown[] = [];
  const blockedMs = await measureEventLoopBlock(() => {
    const result = readApplicationEntry(entry, { ids: new Set(['m']), storedProperties: undefined } as never);
    errors = 'errors' in result ? result.errors : [];
  });
  expect(errors).not.toEqual([]);
  expect(blockedMs).toBeLessThan(2_000);
});
