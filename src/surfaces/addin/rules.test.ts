import fc from 'fast-check';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { findLocalReply, toRules } from './rules.ts';

const rules = toRules([], undefined);
const getStatus = (target: string) => findLocalReply('POST', target, undefined, rules)?.status ?? 'forwarded';
const pieces = fc.constantFrom(
  '/',
  '..',
  '.',
  '%2e',
  '%2E',
  '%2f',
  '%5c',
  '\\',
  '%25',
  '%00',
  ';',
  '?',
  '#',
  '//',
  'v1',
  'msgapi',
  'a',
  '%41',
  ' ',
  'é',
  '@h:1',
);

describe('findLocalReply', () => {
  it('forwards only targets that every parser resolves below the base path', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const target = `/msgapi/v1/${parts.join('')}`;
        if (getStatus(target) !== 'forwarded') return;
        const [path = ''] = target.split('?', 1);
        for (const read of [path, decodeURIComponent(path), new URL(target, 'http://service').pathname]) {
          expect(read).toMatch(/^\/msgapi\/v1\//);
          expect(read).not.toMatch(/\/\/|\/\.{1,2}(?:[/;]|$)|[\\#\0 ]/);
        }
        expect(decodeURIComponent(path)).not.toContain('%');
        expect(new URL(target, 'http://service').host).toBe('service');
      }),
      { numRuns: 2_000 },
    );
  });

  it('forwards every plain path and query', () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9._~-]{0,20}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), word, (path, query) => {
        expect(getStatus(`/msgapi/v1/${path.join('/')}?${query}=/../%2e%2e//`)).toBe('forwarded');
      }),
    );
  });

  it('rejects long paths quickly', async () => {
    const blockedMs = await measureEventLoopBlock(() => {
      for (const end of ['#', '%', '/..', ' '])
        expect(getStatus(`/msgapi/v1/${'a/'.repeat(4_000)}${'%41'.repeat(2_000)}${end}`)).toBe(404);
    });
    expect(blockedMs).toBeLessThan(1_000);
  });
});
