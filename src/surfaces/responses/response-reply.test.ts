import { expect, it } from 'vitest';
import type { ResponseObject } from '#contract/responses/response.ts';
import { EarlyText } from './response-reply.ts';

it('reports a text that cannot be created to its reader only, because an error of the event loop would end the process', async () => {
  const text = new EarlyText({ response: { store: true } as ResponseObject }, () => {
    throw new RangeError('Invalid string length');
  });
  text.make();
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => text.consume()).toThrow('Invalid string length');
});
