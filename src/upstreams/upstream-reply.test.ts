import { describe, expect, it } from 'vitest';
import { readFrames } from '#test/streamed-reply.ts';
import type { EventReader } from './upstream-reply.ts';

const event = 'data: {"a":1}\n\n';
const events = event.repeat(4_000);
/** Longer than the maximum work in one turn of the event loop. */
const workMs = 12;

/** Records each slice and blocks the event loop for some time. */
class SlowReader implements EventReader {
  readonly log: string[];
  hasEnded = false;

  constructor(log: string[]) {
    this.log = log;
  }

  readEvents(text: string): void {
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
async function run(chunks: readonly string[]) {
  const log: string[] = [];
  const count = (): void => {
    log.push('other work');
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const { error } = await readFrames(chunks, new SlowReader(log));
  clearImmediate(timer);
  return { error, log, text: log.filter((entry) => entry !== 'other work') };
}

describe('sendForReply', () => {
  it('lets other work run between slices of a long series of events', async () => {
    const { log, text, error } = await run([`${events}data: [DONE]\n\n`]);
    expect(error).toBeUndefined();
    expect(text.length).toBeGreaterThan(3);
    expect(text.join('')).toBe(`${events}data: [DONE]\n\n`);
    expect(text.every((text) => text.startsWith('data:') && text.endsWith('\n\n'))).toBe(true);
    const readIndexes = log.flatMap((entry, index) => (entry === 'other work' ? [] : [index]));
    expect(readIndexes.slice(1).every((index) => log[index - 1] === 'other work')).toBe(true);
  });

  it('reads a stream whose content type has capitals', async () => {
    const log: string[] = [];
    const { error } = await readFrames(['data: [DONE]\n\n'], new SlowReader(log), { contentType: 'Text/Event-Stream' });
    expect([error, log]).toEqual([undefined, ['data: [DONE]\n\n']]);
  });

  it('reads all events that arrived before the connection closed', async () => {
    const { text, error } = await run([events, events]);
    expect(text.join('')).toBe(events + events);
    expect(String(error)).toContain('closed the connection');
  });

  it('reads all events before one that is too large', async () => {
    const { text, error } = await run([events, `data: ${'a'.repeat(17 * 2 ** 20)}`]);
    expect(text.join('')).toBe(events);
    expect(String(error)).toContain('too large');
  });
});
