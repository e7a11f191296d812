import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NodeState } from '#app/node/node-state.ts';
import { systemClock } from '#base/time/clock.ts';
import { Configuration } from '#contract/configuration/configuration.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import { createConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { ContentRecord } from '#domain/usage/call-content.ts';
import type { AuditRecord, Journal, UsageRecord } from '#domain/usage/journal.ts';
import { JournalWriter, openJournal } from './open-journal.ts';

/** A store whose appends follow a script. */
class ScriptedJournal implements Journal {
  append: () => Promise<void> = async () => undefined;
  readonly batches: (readonly { readonly id: string }[])[] = [];
  readonly contents = {
    append: async (records: readonly ContentRecord[]): Promise<void> => {
      await this.append();
      this.batches.push(records);
    },
  };

  async appendUsage(records: readonly UsageRecord[]): Promise<void> {
    await this.append();
    this.batches.push(records);
  }

  async appendAudit(records: readonly AuditRecord[]): Promise<void> {
    await this.append();
    this.batches.push(records);
  }

  async sumUsage(): Promise<[]> {
    return [];
  }

  async listCalls(): Promise<[]> {
    return [];
  }

  async recordKeyUses(): Promise<void> {}

  async readKeyUses(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async readAudit(): Promise<[]> {
    return [];
  }

  get ids(): readonly string[] {
    return this.batches.flat().map(({ id }) => id);
  }
}

function record(id: string): UsageRecord {
  const tokens = { promptTokens: 1, completionTokens: 1, cost: 0, durationMs: 1 };
  const call = { requestId: 'r', atMs: 1, subject: 's', project: 'p', deployment: 'd', path: ['d'] };
  return { id, ...call, operation: 'chat', outcome: 'ok', status: 200, ...tokens };
}

function open(journal: ScriptedJournal, options: { waitMs?: number; maxWaiting?: number } = {}) {
  const messages: string[] = [];
  const writer = new JournalWriter({
    ...{ journal, contents: journal.contents },
    note: (message) => messages.push(message),
    reportError: (message, error) => messages.push(`${message}: ${(error as Error).message}`),
    ...options,
  });
  return { writer, messages };
}

const failToAppend = (): Promise<never> => Promise.reject(new Error('unavailable'));

const snapshot = createConfigSnapshot(complete(Configuration, {}) as Configuration);

describe('journal records', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('are written together, in their order, as soon as 100 wait, and at most 1000 at a time', async () => {
    const journal = new ScriptedJournal();
    const { writer } = open(journal);
    const ids = Array.from({ length: 2250 }, (_, index) => `${index}`);
    for (const id of ids) writer.usage.add(record(id));
    await vi.advanceTimersByTimeAsync(0);
    expect(journal.batches.map((batch) => batch.length)).toEqual([100]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(journal.batches.map((batch) => batch.length)).toEqual([100, 1000, 1000, 150]);
    expect(journal.ids).toEqual(ids);
  });

  it('wait during an outage, are written after it, and the log reports its start and end', async () => {
    const journal = new ScriptedJournal();
    const { writer, messages } = open(journal);
    journal.append = failToAppend;
    writer.usage.add(record('one'));
    await vi.advanceTimersByTimeAsync(5_000);
    writer.usage.add(record('two'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(messages).toEqual(['cannot write usage records. Up to 50000 wait for the store: unavailable']);
    expect(writer.losses()).toEqual([]);
    journal.append = async () => undefined;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(journal.ids).toEqual(['one', 'two']);
    expect(messages.slice(1)).toEqual(['resumed writing usage records. 0 were lost']);
  });

  it('are tried once a second during an outage, however many arrive', async () => {
    const journal = new ScriptedJournal();
    const { writer } = open(journal);
    const append = vi.fn(failToAppend);
    journal.append = append;
    for (let id = 0; id < 100; id += 1) writer.usage.add(record(`${id}`));
    for (let tries = 1; tries <= 3; tries += 1) {
      for (let id = 0; id < 100; id += 1) {
        writer.usage.add(record(`${tries}-${id}`));
        await vi.advanceTimersByTimeAsync(1);
      }
      expect(append).toHaveBeenCalledTimes(tries);
      await vi.advanceTimersByTimeAsync(900);
    }
  });

  it('are lost beyond the limit of waiting records, and `losses` reports it until the outage ends', async () => {
    const journal = new ScriptedJournal();
    const { writer, messages } = open(journal, { maxWaiting: 3 });
    journal.append = failToAppend;
    for (const id of ['1', '2', '3', '4', '5']) writer.usage.add(record(id));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(writer.losses()).toEqual([
      '2 usage records are lost: the queue is full, because the store is unavailable or too slow',
    ]);
    const state = new NodeState({ snapshot: () => snapshot, loadBalancer: new LoadBalancer(), clock: systemClock });
    state.setStores({ shared: [], losses: () => writer.losses(), isWritable: () => true, areFilesElsewhere: () => false });
    expect(state.listIssues()).toMatchObject([
      { code: 'records_lost', message: expect.stringMatching(/^2 usage records are lost/) },
    ]);
    journal.append = async () => undefined;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(journal.ids).toEqual(['1', '2', '3']);
    expect(writer.losses()).toEqual([]);
    expect(messages.at(-1)).toBe('resumed writing usage records. 2 were lost');
  });

  it('of content are lost beyond their limit of characters, and the log reports it', async () => {
    const journal = new ScriptedJournal();
    const { writer, messages } = open(journal);
    const text = 'x'.repeat(20 * 1024 * 1024);
    for (const id of ['1', '2', '3']) writer.contents.add({ id, atMs: 1, text });
    expect(writer.losses()).toEqual([expect.stringMatching(/^1 contents of calls are lost/)]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([journal.ids, writer.losses()]).toEqual([['1', '2'], []]);
    expect(messages).toEqual(['lost 1 contents of calls: they arrived faster than the store writes them']);
    writer.contents.add({ id: '4', atMs: 1, text: '' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(journal.ids.at(-1)).toBe('4');
  });

  it('of one kind do not wait for records of another kind', async () => {
    const journal = new ScriptedJournal();
    const { writer } = open(journal);
    journal.appendUsage = () => new Promise(() => undefined);
    writer.usage.add(record('one'));
    writer.audit.add({
      id: 'two',
      atMs: 1,
      action: 'a',
      subject: undefined,
      object: undefined,
      requestId: undefined,
      details: {},
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(journal.ids).toEqual(['two']);
  });

  it('are written on close, including those that arrive during a write', async () => {
    const journal = new ScriptedJournal();
    const { writer } = open(journal);
    const slow = Promise.withResolvers<void>();
    journal.append = () => slow.promise;
    writer.usage.add(record('one'));
    await vi.advanceTimersByTimeAsync(1_000);
    writer.usage.add(record('two'));
    const closed = writer.close();
    slow.resolve();
    await closed;
    expect(journal.ids).toEqual(['one', 'two']);
  });

  it('of rejected credentials are summed up, so that strangers cannot fill the audit log', async () => {
    const journal = new ScriptedJournal();
    const { recordAudit, close } = openJournal({
      ...{ journal, contents: journal.contents },
      clock: systemClock,
      note: () => undefined,
      reportError: () => undefined,
    });
    const reject = (code: string) =>
      recordAudit({ action: 'credentials.refused', subject: undefined, object: undefined, details: { code } });
    for (let attempt = 0; attempt < 10_000; attempt += 1) reject('invalid_api_key');
    reject('invalid_token');
    await vi.advanceTimersByTimeAsync(11_000);
    expect(journal.batches.flat()).toMatchObject([
      { action: 'credentials.refused', details: { code: 'invalid_api_key', count: 10_000 } },
      { action: 'credentials.refused', details: { code: 'invalid_token', count: 1 } },
    ]);
    reject('invalid_token');
    recordAudit({ action: 'consent.accepted', subject: 'u', object: 'app' });
    await close();
    expect(journal.batches.flat().slice(2)).toMatchObject([{ action: 'consent.accepted' }, { details: { count: 1 } }]);
  });
});
