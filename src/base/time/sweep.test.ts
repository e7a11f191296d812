import { describe, expect, it } from 'vitest';
import { Slots } from './sweep.ts';

const named = (name: string) => ({ name, slot: -1 });

function namesIn(slots: Slots<ReturnType<typeof named>>): string[] {
  return slots.slots.flatMap((place) => place?.name ?? []);
}

describe('Slots', () => {
  it('holds an item once until it is deleted', () => {
    const slots = new Slots<ReturnType<typeof named>>();
    const [a, b] = [named('a'), named('b')];
    slots.add(a);
    slots.add(b);
    slots.add(a);
    expect([slots.size, namesIn(slots)]).toEqual([2, ['a', 'b']]);
    slots.delete(a);
    slots.delete(a);
    expect([slots.size, namesIn(slots)]).toEqual([1, ['b']]);
  });

  it('reuses the slot of a deleted item for the next item', () => {
    const slots = new Slots<ReturnType<typeof named>>();
    const [a, b, c] = [named('a'), named('b'), named('c')];
    for (const item of [a, b]) slots.add(item);
    slots.delete(a);
    slots.add(c);
    expect(namesIn(slots)).toEqual(['c', 'b']);
    slots.delete(b);
    slots.delete(c);
    expect(slots.size).toBe(0);
  });

  it('visits each remaining item if a visit deletes items', () => {
    const slots = new Slots<ReturnType<typeof named>>();
    const items = ['a', 'b', 'c', 'd'].map(named);
    for (const item of items) slots.add(item);
    const seen: string[] = [];
    for (const item of slots.slots) {
      if (item === undefined) continue;
      seen.push(item.name);
      slots.delete(item);
      if (item.name === 'a') slots.delete(items[2] as ReturnType<typeof named>);
    }
    expect([seen, slots.size]).toEqual([['a', 'b', 'd'], 0]);
  });
});
