import { expect, it } from 'vitest';
import type { ResponseObject } from '#contract/responses/response.ts';
import { EarlyText } from './response-reply.ts';

it('throws the error of a text that cannot be created only in `get`, because an error in the event loop would end the process', async () => {
  const text = new EarlyText({ response: { store: true } as ResponseObject }, () => {
    throw new RangeError('Invalid string length');
  });
  text.prepare();
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => text.get()).toThrow('Invalid string length');
});
