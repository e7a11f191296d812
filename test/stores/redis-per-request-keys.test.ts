import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Caller, Chain } from '#domain/callers/caller.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import { StoreError } from '#domain/store-error.ts';
import { openNode, type RedisNode, type RedisServers, redisStarters } from './redis-support.ts';

const waitOptions = { timeout: 5_000 };

let redis: RedisServers;
let one: RedisNode;
let other: RedisNode;

function usage(model: string, tokens: number): ModelUsage {
  return { index: 0, model, name: model, prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 };
}

function createCaller(report: Chain['report'] = () => undefined, fields: Partial<Caller> = {}): Caller {
  const chain = { path: ['root', 'app'], rights: new HeldRights({ files: ['files/b/a.txt', 'files/b/ß'] }), report };
  return { subject: 'user "1"\n', project: '__proto__', roles: ['staff', 'constructor'], chain, ...fields };
}

async function find(node: RedisNode, key: string): Promise<Caller> {
  return (await node.keys.find(key)) ?? expect.unreachable('the key is unknown');
}

describe.each(redisStarters)('with %s', (_name, start) => {
  beforeAll(async () => {
    redis = await start();
    one = await openNode(redis);
    other = await openNode(redis);
  });

  afterAll(async () => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  describe('per-request key of another node', () => {
    it('identifies the same caller: subject, project, roles, path, and files', async () => {
      const caller = createCaller();
      const key = await one.keys.issue(caller);
      expect(await one.keys.find(key)).toBe(caller);
      const { chain, ...rest } = await find(other, key);
      expect(rest).toEqual({ subject: caller.subject, project: caller.project, roles: caller.roles });
      expect(chain).toMatchObject({ path: ['root', 'app'], rights: new HeldRights({ files: ['files/b/a.txt', 'files/b/ß'] }) });
      await one.keys.revoke(key);
    });

    it('has the user key that started its call chain', async () => {
      const userKey = { id: 'key-1', version: 3, deployments: ['app'] };
      const key = await one.keys.issue(createCaller(undefined, { userKey }));
      expect((await find(other, key)).userKey).toEqual({ ...userKey, deployments: null });
      await one.keys.revoke(key);
    });

    it('keeps the expiry of the configured key that started the chain', async () => {
      const configuredKey = { id: 'name robot', deployments: ['app'], expiresAtMs: 1_900_000_000_000 };
      const key = await one.keys.issue(createCaller(undefined, { configuredKey }));
      expect((await find(other, key)).configuredKey).toEqual({ ...configuredKey, deployments: null });
      await one.keys.revoke(key);
    });

    it('contains its node ID and 256 random bits, and never looks like a token', async () => {
      const keys = await Promise.all(Array.from({ length: 50 }, () => one.keys.issue(createCaller())));
      expect(new Set(keys).size).toBe(50);
      for (const key of keys) {
        expect(key.startsWith(`parley-${one.link.node}-`)).toBe(true);
        expect(Buffer.from(key.slice(-43), 'base64url')).toHaveLength(32);
        expect(key).toMatch(/^[\w-]+$/);
      }
      await Promise.all(keys.map((key) => one.keys.revoke(key)));
      expect(await one.readRedis()).toEqual({});
    });

    it('is stored in Redis as a digest only, in a hash that expires', async () => {
      const key = await one.keys.issue(createCaller());
      const stored = await one.readRedis();
      expect(Object.keys(stored)).toEqual([`parley:keys:${one.link.node}`]);
      expect(JSON.stringify(stored)).not.toContain(key.slice(-43));
      const lifetimeMs = await one.link.run((connection) => connection.pttl(`parley:keys:${one.link.node}`));
      expect(lifetimeMs).toBeGreaterThan(50_000);
      expect(lifetimeMs).toBeLessThanOrEqual(60_000);
      await one.keys.revoke(key);
    });

    it('is unknown on all nodes after it is revoked by its node', async () => {
      const [first, second] = await Promise.all([one.keys.issue(createCaller()), one.keys.issue(createCaller())]);
      await one.keys.revoke(first);
      await one.keys.revoke(first);
      for (const node of [one, other]) {
        expect(await node.keys.find(first)).toBeUndefined();
        expect(await node.keys.find(second)).toBeDefined();
      }
      await other.keys.revoke(second);
      expect(await other.keys.find(second)).toBeDefined();
      await one.keys.revoke(second);
    });

    it('is rejected if one character differs, or if Redis has invalid data for it', async () => {
      const key = await one.keys.issue(createCaller());
      const last = key.endsWith('A') ? 'B' : 'A';
      for (const node of [one, other]) expect(await node.keys.find(key.slice(0, -1) + last)).toBeUndefined();
      const hash = `parley:keys:${one.link.node}`;
      const [digest = ''] = await one.link.run((connection) => connection.hkeys(hash));
      for (const foreign of [
        '',
        '{',
        'null',
        '[]',
        '{"subject":"a"}',
        '{"__proto__":1}',
        '{"subject":"a","project":"p","roles":[1],"path":[],"files":[]}',
      ]) {
        await one.link.run((connection) => connection.hset(hash, digest, foreign));
        expect(await other.keys.find(key)).toBeUndefined();
      }
      await one.keys.revoke(key);
    });

    it('ends when its node shuts down normally', async () => {
      const third = await openNode(redis);
      const key = await third.keys.issue(createCaller());
      expect(await one.keys.find(key)).toBeDefined();
      await third[Symbol.asyncDispose]();
      expect(await one.keys.find(key)).toBeUndefined();
    });
  });

  describe('invalid per-request key', () => {
    it('is unknown without a round trip', async () => {
      const runSpy = vi.spyOn(other.link, 'run');
      const node = one.link.node;
      const random = 'a'.repeat(43);
      for (const text of [
        ...[
          '',
          ' ',
          'caller-key',
          '__proto__',
          'parley',
          'parley--',
          `parley-${node}-`,
          `parley-${node}`,
          `Parley-${node}-${random}`,
        ],
        ...[
          `parley-${node}-${'a'.repeat(21)}`,
          `parley-${node}-${'a'.repeat(87)}`,
          `parley-${node}-${random}\n`,
          `\nparley-${node}-${random}`,
        ],
        ...[
          `parley-${'*'.repeat(16)}-${random}`,
          `parley-${node}:${random}`,
          `parley-${node}-${random}\0`,
          `parley-${'ß'.repeat(16)}-${random}`,
        ],
        ...['x'.repeat(1_000_000), `parley-../../${node}-${random}`],
      ])
        expect(await other.keys.find(text)).toBeUndefined();
      expect(runSpy).not.toHaveBeenCalled();
      runSpy.mockRestore();
    });

    it('is unknown if it contains the ID of an unknown node', async () => {
      expect(await other.keys.find(`parley-${'a'.repeat(16)}-${'a'.repeat(43)}`)).toBeUndefined();
      expect(await one.keys.find(`parley-${one.link.node}-${'a'.repeat(43)}`)).toBeUndefined();
    });
  });

  describe('usage of calls with a key', () => {
    it('has reached the issuing node when the report resolves', async () => {
      const reports: unknown[] = [];
      const key = await one.keys.issue(createCaller((items) => void reports.push(items)));
      const { chain } = await find(other, key);
      await chain?.report([usage('m', 5), usage('n', 7), usage('m', 1)]);
      expect(reports).toEqual([
        [
          { ...usage('m', 6), completion_tokens: 2, total_tokens: 8 },
          { ...usage('n', 7), index: 1 },
        ],
      ]);
      await Promise.all(Array.from({ length: 50 }, () => chain?.report([usage('m', 1)])));
      expect(reports).toHaveLength(51);
      await one.keys.revoke(key);
    });

    it('is reported only to the call of its key', async () => {
      const reports: string[] = [];
      const keys = [
        await one.keys.issue(createCaller(() => void reports.push('a'))),
        await one.keys.issue(createCaller(() => void reports.push('b'))),
      ];
      await (await find(other, keys[1] ?? '')).chain?.report([usage('m', 1)]);
      expect(reports).toEqual(['b']);
      await Promise.all(keys.map((key) => one.keys.revoke(key)));
    });

    it('is logged as lost if the node has stopped, and ignored if the call has ended', async () => {
      const third = await openNode(redis);
      const key = await third.keys.issue(createCaller(() => expect.unreachable('the call has ended')));
      const { chain } = await find(other, key);
      await third.keys.revoke(key);
      await chain?.report([usage('m', 1)]);
      expect(other.reportedErrors).toEqual([]);
      await third[Symbol.asyncDispose]();
      await vi.waitFor(async () => {
        await chain?.report([usage('m', 1)]);
        expect(other.reportedErrors.join()).toContain(
          'the usage of a call could not be reported to the node that issued its key',
        );
      }, waitOptions);
    });

    it('is ignored if the message is invalid', async () => {
      const reports: unknown[] = [];
      const key = await one.keys.issue(createCaller((items) => void reports.push(items)));
      const channel = `parley:usage:${one.link.node}`;
      const [digest = ''] = await one.link.run((connection) => connection.hkeys(`parley:keys:${one.link.node}`));
      const base = { from: 'unknown', id: 1, digest };
      for (const message of [
        '{',
        'null',
        '[]',
        '{"answers":1}',
        '{"answers":"x","from":1}',
        JSON.stringify({ ...base, digest: '__proto__' }),
      ])
        await other.link.publish(channel, message);
      for (const items of [null, 'many', [null], [{ model: 1 }], [{ model: 'm', prompt_tokens: -1 }]])
        await other.link.publish(channel, JSON.stringify({ ...base, usage: items }));
      await (await find(other, key)).chain?.report([usage('last', 1)]);
      // Messages through different servers of a cluster have no order.
      await vi.waitFor(() => expect(reports).toHaveLength(6), waitOptions);
      const zeroUsage = { index: 0, model: 'm', name: 'm', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
      expect(reports).toEqual(expect.arrayContaining([[], [zeroUsage], [usage('last', 1)]]));
      expect(reports.flat()).toHaveLength(2);
      expect(one.reportedErrors).toEqual([]);
      await one.keys.revoke(key);
    });
  });

  describe('lifetime of per-request keys', () => {
    it('lasts as long as their call', async () => {
      const lifetimeMs = 2_000;
      await using node = await openNode({ url: redis.url, lifetimeMs });
      const key = await node.keys.issue(createCaller());
      const fromMs = systemClock.nowMs();
      const getRemainingMs = () => other.link.run((connection) => connection.pttl(`parley:keys:${node.link.node}`));
      while (systemClock.nowMs() < fromMs + 1.5 * lifetimeMs) {
        let minMs = lifetimeMs;
        await vi.waitFor(async () => {
          const remainingMs = await getRemainingMs();
          minMs = Math.min(minMs, remainingMs);
          expect(remainingMs).toBeGreaterThan(minMs);
        }, waitOptions);
      }
      expect(await other.keys.find(key)).toBeDefined();
    });

    it('ends soon after their node is killed', async () => {
      const lifetimeMs = 1_000;
      const program = fileURLToPath(new URL('./fixtures/redis-node.ts', import.meta.url));
      const child = spawn(process.execPath, [program, redis.url, String(lifetimeMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [message] = await once(child.stdout, 'data');
      const key = String(message).trim();
      expect(await other.keys.find(key)).toMatchObject({ subject: 'key:p', chain: { path: ['app'] } });
      child.kill('SIGKILL');
      await once(child, 'exit');
      await vi.waitFor(async () => expect(await other.keys.find(key)).toBeUndefined(), waitOptions);
      expect(await other.readRedis()).toEqual({});
    });
  });

  describe('per-request keys while Redis is unavailable', () => {
    it('cannot be created or found on other nodes, but calls in progress keep theirs', async () => {
      await using store = await start();
      await using node = await openNode(store);
      await using far = await openNode(store);
      const caller = createCaller();
      const key = await node.keys.issue(caller);
      await store.stop();
      await expect(node.keys.issue(createCaller())).rejects.toThrow(StoreError);
      await expect(far.keys.find(key)).rejects.toThrow(StoreError);
      expect(await node.keys.find(key)).toBe(caller);
      await store.start();
      await vi.waitFor(async () => expect(await far.keys.find(key)).toBeDefined(), waitOptions);
      const names = [`parley:keys:${node.link.node}`];
      await vi.waitFor(async () => expect(Object.keys(await node.readRedis())).toEqual(names), waitOptions);
    });

    it('are restored to a Redis that restarts empty, except keys that were revoked in the meantime', async () => {
      await using store = await start();
      await using node = await openNode(store);
      await using far = await openNode(store);
      const reports: unknown[] = [];
      const [activeKey, revokedKey] = await Promise.all([
        node.keys.issue(createCaller((items) => void reports.push(items))),
        node.keys.issue(createCaller()),
      ]);
      await store.stop();
      await node.keys.revoke(revokedKey);
      expect(node.reportedErrors.join()).toContain('a per-request key could not be revoked');
      await store.start();
      const { chain } = await vi.waitFor(() => find(far, activeKey), waitOptions);
      expect(await far.keys.find(revokedKey)).toBeUndefined();
      await vi.waitFor(async () => {
        await chain?.report([usage('m', 1)]);
        expect(reports.length).toBeGreaterThan(0);
      }, waitOptions);
    });

    it('are deleted from Redis if they were revoked during the outage', async () => {
      await using node = await openNode({ url: redis.url, lifetimeMs: 1_000 });
      const [activeKey, revokedKey] = await Promise.all([node.keys.issue(createCaller()), node.keys.issue(createCaller())]);
      const interruption = vi.spyOn(node.link, 'run').mockRejectedValueOnce(new StoreError('it cannot be reached'));
      await node.keys.revoke(revokedKey);
      interruption.mockRestore();
      expect(await other.keys.find(revokedKey)).toBeDefined();
      expect(await node.keys.find(revokedKey)).toBeUndefined();
      await vi.waitFor(async () => expect(await other.keys.find(revokedKey)).toBeUndefined(), waitOptions);
      expect(await other.keys.find(activeKey)).toBeDefined();
    });

    it('are restored if Redis loses them without a connection failure', async () => {
      await using node = await openNode({ url: redis.url, lifetimeMs: 1_000 });
      const key = await node.keys.issue(createCaller());
      await other.sendToAll((server) => server.flushall());
      expect(await other.keys.find(key)).toBeUndefined();
      await vi.waitFor(async () => expect(await other.keys.find(key)).toBeDefined(), waitOptions);
    });
  });

  describe('rights of a per-request key', () => {
    const url = 'files/b/appdata/app/x';
    const grant = [{ receiver: 'second', url, permissions: ['READ'] as const }];

    it('apply to all nodes after a change on another node', async () => {
      const caller = createCaller();
      const key = await one.keys.issue(caller);
      await using third = await openNode(redis);
      await (await find(other, key)).chain?.rights.change({ grant });
      await (await find(other, key)).chain?.rights.change({ attached: [url] });
      for (const node of [one, other, third]) {
        const { chain } = await find(node, key);
        expect(chain?.rights.granted).toEqual(grant);
        expect([chain?.rights.allows('READ', url), chain?.rights.allows('WRITE', url)]).toEqual([true, false]);
      }
      await (await find(third, key)).chain?.rights.change({ revoke: grant });
      for (const node of [one, other, third]) expect((await find(node, key)).chain?.rights.granted).toEqual([]);
      await one.keys.revoke(key);
    });

    it('include later grants on other nodes, next to received permissions', async () => {
      const received = [{ receiver: 'app', url: 'files/b/shared/', permissions: ['READ', 'WRITE'] as const }];
      const chain = { path: ['app'], rights: new HeldRights({ received }), report: () => undefined };
      const key = await one.keys.issue(createCaller(undefined, { chain }));
      await (await find(one, key)).chain?.rights.change({ grant });
      const { rights } = (await find(other, key)).chain ?? expect.unreachable();
      expect([rights.granted, rights.received, rights.allows('WRITE', 'files/b/shared/in/it')]).toEqual([grant, received, true]);
      await one.keys.revoke(key);
      await expect(rights.change({ grant })).resolves.toBeUndefined();
      expect(await other.keys.find(key)).toBeUndefined();
    });

    it('cannot change after its node has stopped', async () => {
      const closedNode = await openNode(redis);
      const key = await closedNode.keys.issue(createCaller());
      const { chain } = await find(other, key);
      await closedNode[Symbol.asyncDispose]();
      await expect(chain?.rights.change({ grant })).rejects.toBeInstanceOf(StoreError);
    });
  });
});
