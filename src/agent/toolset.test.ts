import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import type { Tool } from '#domain/tools/tool.ts';
import { fitName, Toolset } from './toolset.ts';

const named = (name: string): Tool => ({
  name,
  description: '',
  parameters: {},
  run: () => Promise.reject(new Error('not run')),
});

describe('Toolset names', () => {
  it.each([
    ['get_weather', 'get_weather'],
    ['files.read', 'files_read'],
    ['GET /pets/{id}', 'GET_pets_id_'],
    ['погода', '_'],
  ])('%s becomes %s', (name, fitting) => expect(fitName(name)).toBe(fitting));

  it('keep the start of a long name and add a hash, within 64 characters', () => {
    const name = fitName('a'.repeat(65));
    expect(name).toMatch(/^a{55}_[0-9a-f]{8}$/);
    expect(name).not.toBe(fitName(`${'a'.repeat(64)}b`));
  });

  it('are unique, valid, and resolve to their own tool for any input', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('a', 'a.', 'a_', 'b'.repeat(70), 'b'.repeat(71), ''));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 40 }), fc.array(name), (names, taken) => {
        const tools = names.map(named);
        const toolset = new Toolset(tools, new Set(taken));
        const given = toolset.definitions.map((definition) => definition.function.name);
        expect(new Set(given).size).toBe(tools.length);
        for (const [index, shown] of given.entries()) {
          expect(shown).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(taken).not.toContain(shown);
          expect(toolset.find(shown)).toBe(tools[index]);
        }
      }),
    );
  });

  it('are stable', () => {
    const shown = () => new Toolset([named('a'), named('a'), named('a')], new Set()).definitions.map((it) => it.function.name);
    expect(shown()).toEqual(shown());
    expect(shown()[0]).toBe('a');
  });
});
