import { expect, test } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import { toCallOutcome } from './telemetry.ts';

test('toCallOutcome reports a failure only if the client did not cause the error', () => {
  const overloaded = (isClientCaused: boolean) => new ParleyError('overloaded', 'Too many.', { isClientCaused });
  expect([overloaded(true), overloaded(false), new ParleyError('access_denied', 'No.'), undefined].map(toCallOutcome)).toEqual([
    'refused',
    'failed',
    'refused',
    'ok',
  ]);
});
