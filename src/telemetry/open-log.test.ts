import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LineBuffer } from './open-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const writes: string[] = [];
  const stream = { write: (text: string) => void writes.push(text), flush: (done: () => void) => done(), flushSync: vi.fn() };
  return { writes, stream, lines: new LineBuffer(stream) };
}

describe('log lines', () => {
  test('of a tenth of a second are written together', () => {
    const { lines, writes } = open();
    lines.write('a\n');
    lines.write('b\n');
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(writes).toEqual(['a\nb\n']);
    vi.advanceTimersByTime(1_000);
    expect(writes).toHaveLength(1);
  });

  test('are written immediately if many are buffered', () => {
    const { lines, writes } = open();
    for (let index = 0; index < 900; index += 1) lines.write(`${'x'.repeat(99)}\n`);
    expect(writes.length).toBeGreaterThan(0);
    vi.advanceTimersByTime(100);
    expect(writes.join('').length).toBe(90_000);
  });

  test('are all written on flush', () => {
    const { lines, writes, stream } = open();
    lines.write('last\n');
    lines.flush();
    expect(writes).toEqual(['last\n']);
    expect(stream.flushSync).toHaveBeenCalledOnce();
  });
});
