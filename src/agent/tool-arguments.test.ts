import { expect, it } from 'vitest';
import { CheckTime } from '#contract/schemas/schema-error.ts';
import { readArguments } from './tool-arguments.ts';

it('does not run a tool whose arguments cannot be checked in time', async () => {
  const time = new CheckTime();
  time.leftMs = 0;
  expect(await readArguments('{"a":1}', { type: 'object' }, time)).toEqual({
    args: { a: 1 },
    fault: expect.stringContaining('takes too long'),
  });
});
