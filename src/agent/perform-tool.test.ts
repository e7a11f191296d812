import { expect, it } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { getFailureReason, parseArguments } from './perform-tool.ts';

it('getFailureReason discloses the messages of tool errors and Parley errors, but not of unknown errors', () => {
  const bounds = { signal: new AbortController().signal, timeoutMs: 300 };
  expect(getFailureReason(new ToolError('no such city'), bounds)).toBe('The tool failed: no such city');
  expect(getFailureReason(new ParleyError('consent_required', 'Consent is missing.'), bounds)).toBe(
    'The tool failed: Consent is missing.',
  );
  expect(getFailureReason(new Error('password=hunter2'), bounds)).toBeUndefined();
});

it('getFailureReason reports the timeout, regardless of the error that the tool throws then', () => {
  const bounds = { signal: AbortSignal.abort(), timeoutMs: 300 };
  expect(getFailureReason(new ToolError('cut off'), bounds)).toBe('The tool was stopped: it took longer than 0.3 s.');
});

it('parseArguments rejects arguments that cannot be checked in time', async () => {
  const time = new CheckTime();
  time.remainingMs = 0;
  expect(await parseArguments('{"a":1}', { type: 'object' }, time)).toEqual({
    args: { a: 1 },
    error: expect.stringContaining('takes too long'),
  });
});
