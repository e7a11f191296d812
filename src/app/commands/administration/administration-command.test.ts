import { describe, expect, it } from 'vitest';
import { formatDifference } from './administration-command.ts';

describe('formatDifference', () => {
  it.each([
    [{ path: 'models.a', after: { weight: 1 } }, '+ models.a: {"weight":1}'],
    [{ path: 'models.a.weight', before: 1 }, '- models.a.weight: 1'],
    [{ path: 'models.a.name', before: 'x', after: null }, '~ models.a.name: "x" → null'],
    [{ path: 'models.a.upstreams[0].key', before: '***', after: '***' }, '~ models.a.upstreams[0].key: the secret changes'],
  ])('formats %j', (difference, line) => {
    expect(formatDifference(difference)).toBe(line);
  });

  it('shortens long texts, but shows where they differ', () => {
    const start = 'a'.repeat(1000);
    const line = formatDifference({ path: 'p', before: `${start}one`, after: `${start}two${'b'.repeat(1000)}` });
    expect(line).toMatch(/^~ p: …a{20}one" → …a{20}twob{100,200}…$/);
  });
});
