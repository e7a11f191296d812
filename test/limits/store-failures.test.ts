import { describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { DelegatingLimitStore } from '#test/delegating-limit-store.ts';
import { startService } from '#test/start-service.ts';
import { chat, createConfiguration, readUsed, startLimited } from './support.ts';

const roles = { default: { limits: { m: { minute: 100_000, requestMinute: 10 } } } };

/** A remote store that answers after a delay. Tests can make it fail. */
class RemoteStore extends DelegatingLimitStore {
  failsToSettle = false;
  isUnavailable = false;

  protected override async beforeReserve(): Promise<void> {
    if (this.isUnavailable) throw new Error('the store is broken');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  protected override async beforeSettle(): Promise<void> {
    if (this.isUnavailable || this.failsToSettle) throw new Error('the store is broken');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe('a remote counter store', () => {
  it('admits exactly as many concurrent calls as the limit', async () => {
    await using limited = await startLimited(roles, { limitStore: new RemoteStore() });
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await chat(limited.service)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });

  it('logs an error and does not fail the call if the usage cannot be recorded', async () => {
    const limitStore = new RemoteStore();
    const reported: string[] = [];
    await using limited = await startLimited(roles, {
      limitStore,
      reportError: (message, error) => reported.push(`${message}: ${(error as Error).message}`),
    });
    const { service } = limited;
    limitStore.failsToSettle = true;
    expect((await chat(service)).status).toBe(200);
    const { isDone, error } = await (await service.stream('m', { messages: hello })).readRest();
    expect([isDone, error]).toEqual([true, undefined]);
    expect(reported).toEqual(Array(2).fill('could not count the usage of a call: the store is broken'));
    expect(await readUsed(service)).toEqual({ minuteTokenStats: 0, minuteRequestStats: 2 });
  });

  it('rejects calls with 503 and no error details while it is unavailable', async () => {
    const limitStore = new RemoteStore();
    const reported: string[] = [];
    await using limited = await startLimited(roles, { limitStore, reportError: (message) => reported.push(message) });
    const { service, upstream } = limited;
    limitStore.isUnavailable = true;
    const { status, error, headers } = await chat(service);
    expect([status, error.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    expect(error.message).toBe('Your limits cannot be checked at the moment. Try again.');
    expect(reported).toContain('could not count a call against its limits');
    expect(upstream.requests).toHaveLength(0);
    limitStore.isUnavailable = false;
    expect((await chat(service)).status).toBe(200);
  });

  it('admits calls while it is unavailable if the configuration allows it or if no limits apply', async () => {
    const limitStore = new RemoteStore();
    limitStore.isUnavailable = true;
    await using limited = await startLimited(roles, { limitStore });
    const { service, upstream } = limited;
    expect((await chat(service, 'n')).status).toBe(200);
    await using openService = await startService(
      { ...createConfiguration(roles, upstream.endpoint), limits: { onStoreFailure: 'allow' } },
      { limitStore },
    );
    const { status, headers } = await chat(openService);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('x-ratelimit-limit-tokens');
  });
});
