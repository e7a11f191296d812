import { describe, expect, it } from 'vitest';
import { readFrames } from '#test/streamed-reply.ts';
import type { EventReader } from './upstream-reply.ts';

const event = 'data: {"a":1}\n\n';
const events = event.repeat(4_000);
/** Longer than the maximum work in one turn of the event loop. */
const workMs = 12;

/** Records each piece and works on it for some time. */
class SlowReader implements EventReader {
  readonly log: string[];
  hasEnded = false;

  constructor(log: string[]) {
    this.log = log;
  }

  read(text: string): void {
    this.log.push(text);
    const startMs = performance.now();
    while (performance.now() - startMs < workMs);
    this.hasEnded = text.endsWith('data: [DONE]\n\n');
  }

  isEndMark(): boolean {
    return false;
  }
}

/** Runs a stream and records when other work gets its turn. */
async function run(pieces: readonly string[]) {
  const log: string[] = [];
  const count = (): void => {
    log.push('other work');
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const { error: fault } = await readFrames(pieces, new SlowReader(log));
  clearImmediate(timer);
  return { fault, log, text: log.filter((each) => each !== 'other work') };
}

describe('sendForReply', () => {
  it('lets other work run between the pieces of a flood of events', async () => {
    const { log, text, fault } = await run([`${events}data: [DONE]\n\n`]);
    expect(fault).toBeUndefined();
    expect(text.length).toBeGreaterThan(3);
    expect(text.join('')).toBe(`${events}data: [DONE]\n\n`);
    expect(text.every((piece) => piece.startsWith('data:') && piece.endsWith('\n\n'))).toBe(true);
    const places = log.flatMap((each, index) => (each === 'other work' ? [] : [index]));
    expect(places.slice(1).every((at) => log[at - 1] === 'other work')).toBe(true);
  });

  it('reads all events that arrived before the connection closed', async () => {
    const { text, fault } = await run([events, events]);
    expect(text.join('')).toBe(events + events);
    expect(String(fault)).toContain('closed the connection');
  });

  it('reads all events before one that is too large', async () => {
    const { text, fault } = await run([events, `data: ${'a'.repeat(17 * 2 ** 20)}`]);
    expect(text.join('')).toBe(events);
    expect(String(fault)).toContain('too large');
  });
});
