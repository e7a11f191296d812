import type { ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { maxStalledMs } from '../http/replies/event-stream.ts';
import { Relay } from './relay.ts';

it.each([
  ['disconnects a client that does not read the end of its response', 1, [[maxStalledMs, expect.any(Function)]]],
  ['sets no timeout if the client has the whole response', 0, []],
])('%s', (_what, writableLength, timeouts) => {
  const setTimeout = vi.fn();
  const end = vi.fn();
  const response = { writeHead() {}, flushHeaders() {}, end, setTimeout, socket: { writableLength } };
  const relay = new Relay(response as unknown as ServerResponse, []);
  relay.head(200, { 'content-length': '2' });
  relay.bytes('hi');
  relay.end();
  expect(end).toHaveBeenCalledWith('hi', 'latin1');
  expect(setTimeout.mock.calls).toEqual(timeouts);
});
