import { expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { getFailureReason, parseArguments } from './perform-tool.ts';

it('tells the reason of a fault that is meant to be told, and of no other', () => {
  const bounds = { signal: new AbortController().signal, timeoutMs: 300 };
  expect(getFailureReason(new ToolError('no such city'), bounds)).toBe('The tool failed: no such city');
  expect(getFailureReason(new ParleyError('consent_required', 'Consent is missing.'), bounds)).toBe(
    'The tool failed: Consent is missing.',
  );
  expect(getFailureReason(new Error('password=hunter2'), bounds)).toBeUndefined();
});

it('tells that the time was over, whatever the tool throws then', () => {
  const bounds = { signal: AbortSignal.abort(), timeoutMs: 300 };
  expect(getFailureReason(new ToolError('cut off'), bounds)).toBe('The tool was stopped: it took longer than 0.3 s.');
});

it('does not run a tool whose arguments cannot be checked in time', async () => {
  const time = new CheckTime();
  time.leftMs = 0;
  expect(await parseArguments('{"a":1}', { type: 'object' }, time)).toEqual({
    args: { a: 1 },
    error: expect.stringContaining('takes too long'),
  });
});
