import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import type { Tool } from '#domain/tools/tool.ts';
import { fitName, Toolset } from './toolset.ts';

const createTool = (name: string): Tool => ({
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
  ])('%s becomes %s', (name, expected) => expect(fitName(name)).toBe(expected));

  it('keep the start of a long name and add a hash, within 64 characters', () => {
    const name = fitName('a'.repeat(65));
    expect(name).toMatch(/^a{55}_[0-9a-f]{8}$/);
    expect(name).not.toBe(fitName(`${'a'.repeat(64)}b`));
  });

  it('are unique, valid, and resolve to their own tool for any input', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('a', 'a.', 'a_', 'b'.repeat(70), 'b'.repeat(71), ''));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 40 }), fc.array(name), (names, reservedNames) => {
        const tools = names.map(createTool);
        const toolset = new Toolset(tools, new Set(reservedNames));
        const offeredNames = toolset.definitions.map((definition) => definition.function.name);
        expect(new Set(offeredNames).size).toBe(tools.length);
        for (const [index, offeredName] of offeredNames.entries()) {
          expect(offeredName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(reservedNames).not.toContain(offeredName);
          expect(toolset.find(offeredName)).toBe(tools[index]);
        }
      }),
    );
  });

  it('are stable', () => {
    const listNames = () =>
      new Toolset([createTool('a'), createTool('a'), createTool('a')], new Set()).definitions.map(
        (definition) => definition.function.name,
      );
    expect(listNames()).toEqual(listNames());
    expect(listNames()[0]).toBe('a');
  });
});
