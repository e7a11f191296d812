import { expect, test } from 'vitest';
import type { Clock } from '#base/time/clock.ts';
import type { ResponseCustomContent } from '#contract/chat/chunk.ts';
import { Renumbering, Reply } from './reply.ts';

test('Renumbering drops stages, attachments, and controls that are not objects', () => {
  const reply = new Reply({ id: 'r', deployment: 'd', clock: {} as Clock });
  const withInvalidItems = (item: object) => [null, 5, 'x', [], item];
  const inner = {
    stages: withInvalidItems({ index: 7, name: 's' }),
    attachments: withInvalidItems({ title: 'a' }),
    controls: withInvalidItems({ label: 'c' }),
  } as unknown as ResponseCustomContent;
  expect(new Renumbering(reply).renumberContent(inner)).toEqual({
    stages: [{ index: 0, name: 's' }],
    attachments: [{ index: 0, title: 'a' }],
    controls: [{ index: 0, label: 'c' }],
  });
});
