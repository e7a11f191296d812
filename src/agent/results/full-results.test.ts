import { describe, expect, it } from 'vitest';
import { ToolError } from '#domain/tools/tool.ts';
import { createReadResultTool, type FullResults } from './full-results.ts';

function read(text: string, args: object, maxResultBytes = 10_000): Promise<string> {
  const results = { find: async (id: string) => (id === 'r_1' ? text : undefined) } as unknown as FullResults;
  const tool = createReadResultTool(
    () => results,
    () => [],
    10_000,
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
