import { expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { reasonOf } from './tool-failure.ts';

it('tells the reason of a fault that is meant to be told, and of no other', () => {
  const bounds = { signal: new AbortController().signal, timeoutMs: 300 };
  expect(reasonOf(new ToolFault('no such city'), bounds)).toBe('The tool failed: no such city');
  expect(reasonOf(new ParleyError('consent_required', 'Consent is missing.'), bounds)).toBe(
    'The tool failed: Consent is missing.',
  );
  expect(reasonOf(new Error('password=hunter2'), bounds)).toBeUndefined();
});

it('tells that the time was over, whatever the tool throws then', () => {
  const bounds = { signal: AbortSignal.abort(), timeoutMs: 300 };
  expect(reasonOf(new ToolFault('cut off'), bounds)).toBe('The tool was stopped: it took longer than 0.3 s.');
});
