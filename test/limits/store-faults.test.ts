import { describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { DelegatingLimitStore } from '#test/delegating-limit-store.ts';
import { startService } from '#test/start-service.ts';
import { chat, limitedBy, startLimited, usedOf } from './support.ts';

const roles = { default: { limits: { m: { minute: 100_000, requestMinute: 10 } } } };

/** A store beyond a wire: it answers later, and fails as it is told. */
class FarStore extends DelegatingLimitStore {
  failsAtCharge = false;
  failsAtAll = false;

  protected override async beforeReserve(): Promise<void> {
    if (this.failsAtAll) throw new Error('the store is gone');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  protected override async beforeSettle(): Promise<void> {
    if (this.failsAtAll || this.failsAtCharge) throw new Error('the store is gone');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe('a remote counter store', () => {
  it('admits exactly the number of the limit', async () => {
    await using limited = await startLimited(roles, { limitStore: new FarStore() });
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await chat(limited.service)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });

  it('does not fail a call whose usage cannot be counted, and logs the error', async () => {
    const limitStore = new FarStore();
    const noted: string[] = [];
    await using limited = await startLimited(roles, {
      limitStore,
      reportError: (message, thrown) => noted.push(`${message}: ${(thrown as Error).message}`),
    });
    const { service } = limited;
    limitStore.failsAtCharge = true;
    expect((await chat(service)).status).toBe(200);
    const { isDone, error } = await (await service.stream('m', { messages: hello })).readRest();
    expect([isDone, error]).toEqual([true, undefined]);
    expect(noted).toEqual(Array(2).fill('Could not count the usage of a call: the store is gone'));
    expect(await usedOf(service)).toEqual({ minuteTokenStats: 0, minuteRequestStats: 2 });
  });

  it('rejects calls while it is unavailable, without its details', async () => {
    const limitStore = new FarStore();
    const noted: string[] = [];
    await using limited = await startLimited(roles, { limitStore, reportError: (message) => noted.push(message) });
    const { service, upstream } = limited;
    limitStore.failsAtAll = true;
    const { status, error, headers } = await chat(service);
    expect([status, error.code, headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    expect(error.message).toBe('Your limits cannot be checked at the moment. Try again.');
    expect(noted).toContain('Could not count a call against its limits');
    expect(upstream.requests).toHaveLength(0);
    limitStore.failsAtAll = false;
    expect((await chat(service)).status).toBe(200);
  });

  it('admits calls while it is unavailable if the configuration allows it or no limits apply', async () => {
    const limitStore = new FarStore();
    limitStore.failsAtAll = true;
    await using limited = await startLimited(roles, { limitStore });
    const { service, upstream } = limited;
    expect((await chat(service, 'n')).status).toBe(200);
    await using open = await startService(
      { ...limitedBy(roles, upstream.endpoint), limits: { onStoreFailure: 'allow' } },
      { limitStore },
    );
    const { status, headers } = await chat(open);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('x-ratelimit-limit-tokens');
  });
});
