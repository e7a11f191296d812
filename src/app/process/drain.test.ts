import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { InFlightCalls } from '#services/node/in-flight-calls.ts';
import { createLog } from '#telemetry/log.ts';
import { closeInOrder, Drain, ignoreEchoes, TrackedConnections } from './drain.ts';

const log = createLog({ level: 'silent', sink: { write() {} }, secrets: () => [] });

/** Returns a server whose responses stay open until the test ends them, and its drain. */
async function startServer(drainMs: number, closeFirst: () => Promise<void> = async () => {}) {
  const calls = new InFlightCalls();
  const endCalls: (() => void)[] = [];
  const server = createServer((_request, response) => {
    const call = { slot: -1, caller: undefined, cancel: (reason: unknown) => end(`${(reason as ParleyError).code}\n`) };
    calls.add(call);
    response.write('first\n');
    const end = (last: string): void => {
      response.end(last);
      calls.delete(call);
    };
    endCalls.push(() => end('last\n'));
  });
  onTestFinished(() => server.close().closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const exits: number[] = [];
  let isClosed = false;
  const exited = Promise.withResolvers<void>();
  const drain = new Drain({
    server,
    connections: new TrackedConnections(server),
    calls,
    clock: systemClock,
    log,
    drainMs,
    closeStages: [[{ close: closeFirst }], [{ close: () => (isClosed = true) }]],
    exit(code) {
      exits.push(code);
      exited.resolve();
    },
  });
  return { port, drain, calls, endCalls, exits, exited: exited.promise, isClosed: () => isClosed };
}

/** Sends a request. Returns the text that it receives until the response ends. */
async function call(port: number): Promise<{ text: Promise<string> }> {
  const sent = request({ port, host: '127.0.0.1' });
  sent.end();
  const [response] = await once(sent, 'response');
  return {
    text: (async () => {
      let text = '';
      for await (const part of response) text += part;
      return text;
    })(),
  };
}

describe('Drain', () => {
  test('exits immediately if no call is open', async () => {
    const node = await startServer(60_000);
    const idle = connect(node.port, '127.0.0.1');
    await once(idle, 'connect');
    node.drain.handleSignal();
    await node.exited;
    expect(node.exits).toEqual([0]);
    expect(node.isClosed()).toBe(true);
  });

  test('is not ready, rejects new connections, and lets open calls end', async () => {
    const node = await startServer(60_000);
    const { text } = await call(node.port);
    expect(node.drain.isDraining).toBe(false);
    node.drain.handleSignal();
    expect(node.drain.isDraining).toBe(true);
    expect(node.calls.isClosed).toBe(true);
    await expect(call(node.port)).rejects.toThrow(/ECONNREFUSED/);
    expect(node.exits).toEqual([]);
    node.endCalls[0]?.();
    await node.exited;
    expect(await text).toBe('first\nlast\n');
    expect(node.exits).toEqual([0]);
  });

  test('aborts open calls with shutting_down after the drain time', async () => {
    const node = await startServer(50);
    const { text } = await call(node.port);
    node.drain.handleSignal();
    await node.exited;
    expect(await text).toBe('first\nshutting_down\n');
    expect(node.exits).toEqual([0]);
  });

  test('exits within six more seconds if closing hangs', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const exits: number[] = [];
    const neverSettles = new Promise<void>(() => {});
    const drain = new Drain({
      server: { close() {}, closeIdleConnections() {}, closeAllConnections() {} },
      connections: { closeAfterResponses() {} },
      calls: { size: 1, close: () => neverSettles, abort() {} },
      clock: systemClock,
      log,
      drainMs: 10,
      closeStages: [[{ close: () => neverSettles }]],
      exit: (code) => void exits.push(code),
    });
    drain.handleSignal();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(exits).toEqual([1]);
  });

  test('exits with 1 if a part cannot be closed, after it closes the remaining parts', async () => {
    const node = await startServer(60_000, () => Promise.reject(new Error('the watch is stuck')));
    node.drain.handleSignal();
    await node.exited;
    expect([node.exits, node.isClosed()]).toEqual([[1], true]);
  });

  test('exits immediately on a second signal', async () => {
    const node = await startServer(60_000);
    const { text } = await call(node.port);
    node.drain.handleSignal();
    node.drain.handleSignal();
    expect(node.exits).toEqual([130]);
    node.endCalls[0]?.();
    await text;
  });
});

const lines: string[] = [];
const errorLog = createLog({ level: 'error', sink: { write: (line) => lines.push(line) }, secrets: () => [] });

test('closeInOrder closes the stages in order despite errors, and logs each error', async () => {
  const closed: string[] = [];
  const closing = (name: string) => ({ close: async () => void closed.push(name) });
  const slow = { close: () => new Promise((resolve) => setTimeout(resolve, 20)).then(() => closed.push('slow')) };
  const rejecting = { close: () => Promise.reject(new Error('the watch is stuck')) };
  const throwing = {
    close() {
      throw new Error('the port is closed');
    },
  };
  const areClosed = await closeInOrder(
    [[rejecting, throwing, slow, closing('listener')], [closing('records')], [closing('log')]],
    errorLog,
  );
  expect(areClosed).toBe(false);
  expect(closed).toEqual(['listener', 'slow', 'records', 'log']);
  expect(lines.join('')).toMatch(/the watch is stuck[\s\S]*the port is closed/);
});

test('closeInOrder returns true if all stages are closed', async () => {
  expect(await closeInOrder([[{ close: () => undefined }], [{ close: async () => undefined }]], errorLog)).toBe(true);
});

function createListener(environment: Readonly<Record<string, string>>) {
  const signals: string[] = [];
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, epochMs: () => 0, sleep: () => Promise.resolve() };
  const onSignal = ignoreEchoes((signal) => signals.push(signal), environment, clock);
  const sendAt = (ms: number, signal: NodeJS.Signals): void => {
    nowMs = ms;
    onSignal(signal);
  };
  return { signals, sendAt };
}

it('ignoreEchoes drops a signal that npm repeats immediately, and accepts a later one', () => {
  const { signals, sendAt } = createListener({ npm_lifecycle_event: 'start' });
  sendAt(0, 'SIGINT');
  sendAt(30, 'SIGINT');
  expect(signals).toEqual(['SIGINT']);
  sendAt(40, 'SIGTERM');
  sendAt(600, 'SIGINT');
  expect(signals).toEqual(['SIGINT', 'SIGTERM', 'SIGINT']);
});

it('ignoreEchoes passes every signal on if the process was not started by npm', () => {
  const { signals, sendAt } = createListener({});
  sendAt(0, 'SIGTERM');
  sendAt(1, 'SIGTERM');
  expect(signals).toEqual(['SIGTERM', 'SIGTERM']);
});
