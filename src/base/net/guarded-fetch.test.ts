import { expect, it } from 'vitest';
import { isEventStream } from './guarded-fetch.ts';

it.each([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['application/json', false],
])('isEventStream reads the content type %s', (contentType, expected) => {
  expect(isEventStream(new Response('', { headers: { 'content-type': contentType } }))).toBe(expected);
});
