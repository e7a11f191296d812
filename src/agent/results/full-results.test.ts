import { describe, expect, it } from 'vitest';
import { ToolError } from '#domain/tools/tool.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { createReadResultTool, type FullResults } from './full-results.ts';

function read(text: string, args: object, maxResultBytes = 10_000): Promise<string> {
  const results = { find: async (id: string) => (id === 'r_1' ? text : undefined) } as unknown as FullResults;
  const tool = createReadResultTool(
    () => results,
    () => [],
  );
  const context = { maxResultBytes } as Parameters<typeof tool.run>[1];
  return Promise.resolve(tool.run({ id: 'r_1', ...args }, context)).then((result) => result.text);
}

describe('read_result', () => {
  it.each([' ', '\n\t', '\u00a0'])('continues to read if the search contains no word: %j', async (search) => {
    expect(await read('a😀b', { search })).toMatch(/^a😀b\n\n\[Characters 0 to 4 of 4/);
  });

  it('finds words next to characters outside of the basic plane', async () => {
    expect(await read('a😀b 😀 b', { search: '😀' })).toBe(
      'Offset 0: …a😀b 😀 b…\n\n[Found 2 times in 9 characters, shown in 1 places.]',
    );
  });

  it.each([
    ['of any case', 'İ ΟΔΟΣΑ 12', 'οδος', 'Offset 0: …İ ΟΔΟΣΑ 12…'],
    ['with any spaces between them', 'a\n\n b  c\td', 'B C D', 'Offset 0: …a\n\n b  c\td…'],
  ])('finds words %s', async (_name, text, search, excerpt) => {
    expect(await read(text, { search })).toBe(`${excerpt}\n\n[Found 1 times in ${text.length} characters, shown in 1 places.]`);
  });

  it('names the offset of a match after several spaces', async () => {
    const text = `${'x \n '.repeat(200)}needle${'\n\n'.repeat(200)}`;
    expect(await read(text, { search: 'needle' })).toMatch(/^Offset 640: /);
    expect(await read(text, { search: 'needle', offset: 799 })).toMatch(/^Offset 799: …\s?needle/);
    expect(await read(text, { search: 'needle', offset: 801 })).toMatch(/^\[Nothing in/);
  });

  it('does not block the event loop for many words, or for many calls of one turn', async () => {
    const text = 'a '.repeat(500_000);
    const search = `${'a '.repeat(99)}b`;
    const blockedMs = await measureMinEventLoopBlock(250, async () => {
      const results = { find: async () => text } as unknown as FullResults;
      const tool = createReadResultTool(
        () => results,
        () => [],
      );
      const context = { maxResultBytes: 10_000 } as Parameters<typeof tool.run>[1];
      await Promise.all(Array.from({ length: 10 }, () => tool.run({ id: 'r_1', search }, context)));
    });
    expect(blockedMs).toBeLessThan(250);
  });

  it('does not return half a character', async () => {
    expect(await read('a😀b', { offset: 2 })).toMatch(/^\ufffdb\n\n\[Characters 2 to 4 of 4/);
  });

  it('shows a part of the first match if it does not fit completely', async () => {
    const text = `${'x'.repeat(400)} needle ${'y'.repeat(400)}`;
    const found = await read(text, { search: 'needle' }, 0);
    expect(found).toMatch(/^Offset 241: …x+/);
    expect(found).toMatch(/shown in 1 places/);
  });

  it('fails for a result that does not exist', async () => {
    await expect(read('', { id: 'r_2' })).rejects.toThrow(ToolError);
  });
});
