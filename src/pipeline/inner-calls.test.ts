import { describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Calls } from '#domain/calls/call.ts';
import type { CallEnd, Telemetry } from '#domain/calls/telemetry.ts';
import { type InnerCallStart, InnerCalls } from './inner-calls.ts';

/** Starts an inner call whose authorization ends with `authorize`. Returns the call, its signal, and the ends of its record. */
function startCall(authorize: () => Promise<void>) {
  const ends: CallEnd[] = [];
  const record = { setDeployment: () => undefined, end: (end: CallEnd) => ends.push(end) };
  const telemetry = { startCall: () => record } as unknown as Telemetry;
  const calls = new InnerCalls({ telemetry, clock: systemClock, newId: () => 'x' });
  calls.connect({ authorize } as unknown as Calls);
  const client = new AbortController();
  const call = { id: 'i', deployment: 'm', caller: { chain: null } };
  const reply = calls.call({ call, trace: {}, request: { messages: [] }, signal: client.signal } as unknown as InnerCallStart);
  return { client, ends, reply };
}

describe('an inner call', () => {
  it('ends its record if the client disconnects while it is authorized', async () => {
    const authorization = Promise.withResolvers<void>();
    const { client, ends, reply } = startCall(() => authorization.promise);
    client.abort(new Error('disconnected'));
    authorization.resolve();
    await expect(reply).rejects.toThrow('disconnected');
    expect(ends).toMatchObject([{ outcome: 'left', status: 499 }]);
  });

  it('ends its record if the client disconnects before its reply is read', async () => {
    const { client, ends, reply } = startCall(async () => undefined);
    await reply;
    expect(ends).toEqual([]);
    client.abort();
    expect(ends).toMatchObject([{ outcome: 'left', status: 499 }]);
  });

  it('fails with the error of its authorization', async () => {
    const { ends, reply } = startCall(() => Promise.reject(new Error('broken')));
    await expect(reply).rejects.toThrow('broken');
    expect(ends).toMatchObject([{ outcome: 'failed', status: 500 }]);
  });
});
