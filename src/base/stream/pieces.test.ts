import { describe, expect, it } from 'vitest';
import { Pieces } from './pieces.ts';

describe('Pieces', () => {
  it('joins small pieces, so that a body in single bytes takes little more memory than its bytes', () => {
    const pieces = new Pieces();
    for (let index = 0; index < 100_000; index += 1) pieces.add(Buffer.from([index % 256]));
    expect(pieces.bytes).toBe(100_000);
    const all = pieces.take();
    expect(all.length).toBeLessThan(1_000);
    expect(Buffer.concat(all)).toEqual(Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256)));
  });

  it('keeps large pieces as they are', () => {
    const pieces = new Pieces();
    const piece = Buffer.alloc(64 * 1024, 'x');
    for (let index = 0; index < 600; index += 1) pieces.add(piece);
    expect(pieces.take().every((each) => each === piece)).toBe(true);
  });

  it('returns all bytes once', () => {
    const pieces = new Pieces();
    expect(pieces.takeBytes()).toEqual(Buffer.alloc(0));
    const only = Buffer.from('only');
    pieces.add(only);
    expect(pieces.takeBytes()).toBe(only);
    for (const text of ['a', 'bc', 'd']) pieces.add(Buffer.from(text));
    expect(pieces.takeBytes().toString()).toBe('abcd');
    expect([pieces.bytes, pieces.takeBytes().length]).toEqual([0, 0]);
  });
});
