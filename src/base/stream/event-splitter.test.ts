import { array, assert, constantFrom, integer, property } from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { EventSplitter, EventTooLarge, listEventData } from './event-splitter.ts';

function pushAll(pieces: readonly string[]): string {
  const splitter = new EventSplitter();
  return pieces.map((piece) => splitter.push(piece)).join('');
}

function splitAt(text: string, positions: readonly number[]): string[] {
  const sorted = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index] ?? text.length));
}

describe('EventSplitter', () => {
  it('returns complete events and keeps an incomplete remainder', () => {
    const splitter = new EventSplitter();
    expect(splitter.push('data: 1\n\nda')).toBe('data: 1\n\n');
    expect(splitter.incompleteEvent).toBe('da');
    expect(splitter.push('ta: 2\n')).toBe('');
    expect(splitter.push('\n')).toBe('data: 2\n\n');
    expect(splitter.incompleteEvent).toBe('');
  });

  it('reads every kind of line ending', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      expect(pushAll([`data: 1${end}${end}data: 2${end}${end}`, 'x'])).toBe('data: 1\n\ndata: 2\n\n');
    }
  });

  it('takes linear time for a large event that arrives in small reads', () => {
    const splitter = new EventSplitter();
    const piece = 'x'.repeat(256);
    for (let index = 0; index < 60_000; index += 1) splitter.push(piece);
    expect(splitter.push('\n\n')).toHaveLength(60_000 * 256 + 2);
  });

  it('skips a byte order mark', () => {
    expect(pushAll(['\u00ef\u00bb\u00bfdata: 1\n\n'])).toBe('data: 1\n\n');
  });

  it('returns the same events regardless of how the bytes are split', () => {
    const line = constantFrom('data: {"a":1}', ': comment', 'event: x', 'data: \u00c3\u00a9', `data: ${'y'.repeat(300)}`);
    const ends = constantFrom('\n', '\r\n');
    assert(
      property(array(line, { minLength: 1 }), ends, array(integer({ min: 0, max: 5000 })), (lines, end, positions) => {
        const text = lines.map((each) => `${each}${end}${end}`).join('');
        expect(pushAll(splitAt(text, positions))).toBe(text.replaceAll('\r\n', '\n'));
      }),
    );
  });

  it('reads an event that is far larger than one read', () => {
    const event = `data: ${'x'.repeat(300_000)}\n\n`;
    const pieces = event.match(/[\s\S]{1,1000}/g) ?? [];
    expect(pushAll(pieces)).toBe(event);
  });

  it('rejects an event without an end that exceeds the limit', () => {
    const splitter = new EventSplitter();
    expect(splitter.push('x'.repeat(16 * 1024 ** 2))).toBe('');
    expect(() => splitter.push('x')).toThrow(EventTooLarge);
  });
});

describe('listEventData', () => {
  it('omits comments and joins the data lines of one event', () => {
    expect(listEventData(': ping\n\ndata: a\ndata: b\n\nevent: x\ndata:c\n\ndata\n\n')).toEqual(['a\nb', 'c', '']);
  });
});

describe('EventSplitter', () => {
  it.each([':\n', 'data:\n', 'data:\r\n'])('rejects a large event of more than 100,000 lines of %j', (line) => {
    const splitter = new EventSplitter();
    const piece = line.repeat(8192);
    expect(() => {
      for (let nth = 0; nth < 40; nth += 1) splitter.push(piece);
    }).toThrow('an event has more than 100000 lines');
  });

  it('accepts many events with many lines together', () => {
    const splitter = new EventSplitter();
    const event = `${'data: x\n'.repeat(40_000)}\n`;
    const read = Array.from({ length: 5 }, () => splitter.push(event.slice(0, 9)) + splitter.push(event.slice(9)));
    expect(read.join('')).toBe(event.repeat(5));
  });
});
