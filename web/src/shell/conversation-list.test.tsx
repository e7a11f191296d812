import { expect, it } from 'vitest';
import type { ConversationSummary } from '../conversation/database.ts';
import { groupSummaries } from './conversation-list.tsx';

const now = new Date(2026, 2, 10, 15).getTime();
const head = (id: string, at: Date, fields: Partial<ConversationSummary> = {}): ConversationSummary => ({
  ...{ id, title: id, deployment: 'demo', said: id, updatedAtMs: at.getTime() },
  ...fields,
});

it('sorts chats by their last activity, pinned ones first and archived ones last', () => {
  const heads = [
    head('shelved', new Date(2026, 2, 10, 14), { archived: true }),
    head('now', new Date(2026, 2, 10, 0)),
    head('last night', new Date(2026, 2, 9, 23, 59)),
    head('kept', new Date(2026, 2, 4), { pinned: true }),
    head('last week', new Date(2026, 2, 3)),
    head('weeks ago', new Date(2026, 2, 2)),
    head('in January', new Date(2026, 0, 20)),
    head('early in January', new Date(2026, 0, 2)),
  ];
  expect(groupSummaries(heads, now).map(({ name, items }) => [name, items.map(({ id }) => id)])).toEqual([
    ['pinned', ['kept']],
    ['today', ['now']],
    ['yesterday', ['last night']],
    ['week', ['last week']],
    ['month', ['weeks ago']],
    [new Date(2026, 0).getTime(), ['in January', 'early in January']],
    ['archived', ['shelved']],
  ]);
});
