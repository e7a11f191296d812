import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { NodeRecord, NodeStore } from '#domain/administration/node-record.ts';
import { StoreError } from '#domain/store-error.ts';
import { NodeRegistry } from '../node/node-registry.ts';
import { FileLayer } from './file-layer.ts';

/** Store that can be unavailable. The names of the files are their digests. */
function createStore() {
  const state = { files: JSON.stringify('new'), isAvailable: true };
  const records = new Map<string, NodeRecord>();
  const access = async (): Promise<void> => {
    if (!state.isAvailable) throw new StoreError('unavailable');
  };
  const nodes: NodeStore = {
    async put(record) {
      await access();
      records.set(record.node, record);
    },
    async delete(node) {
      records.delete(node);
    },
    async list(nowMs) {
      await access();
      return [...records.values()].filter(({ untilMs }) => untilMs >= nowMs);
    },
  };
  return { state, nodes };
}

/** Starts a node that shares its files at the start, if the store is available, and after each renewal of its record. */
async function startNode(name: string, files: string, { state, nodes }: ReturnType<typeof createStore>) {
  const registry = new NodeRegistry({
    store: nodes,
    node: name,
    clock: systemClock,
    report: () => ({}),
    reportError: () => undefined,
  });
  const layer = new FileLayer({
    nodeFiles: { configuration: files } as never,
    check: (configuration) => ({ configuration }) as never,
    digestFiles: (text) => text,
    nodes: registry,
    onApplied: () => undefined,
    reportError: () => undefined,
  });
  const share = async (): Promise<void> => {
    layer.apply({ digest: state.files, text: state.files });
    state.files = (await layer.findReplacement())?.digest ?? state.files;
  };
  registry.onRenewed(share);
  await share().catch(() => undefined);
  return registry;
}

describe('FileLayer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([11_500, 20_200, 60_200])(
    'keeps the stored files after an outage of %d ms if the node that read them still runs',
    async (outageMs) => {
      const store = createStore();
      const current = await startNode('a', 'new', store);
      await vi.advanceTimersByTimeAsync(3_900);
      const outdated = await startNode('b', 'old', store);
      await vi.advanceTimersByTimeAsync(4_000);
      // After each of these outages, the node with the outdated files renews its record first.
      store.state.isAvailable = false;
      await vi.advanceTimersByTimeAsync(outageMs);
      store.state.isAvailable = true;
      await vi.advanceTimersByTimeAsync(30_000);
      expect(store.state.files).toBe('"new"');
      await current.close();
      await outdated.close();
    },
  );

  it('keeps the stored files if a node with other files starts during an outage', async () => {
    const store = createStore();
    const current = await startNode('a', 'new', store);
    store.state.isAvailable = false;
    await vi.advanceTimersByTimeAsync(18_000);
    const outdated = await startNode('b', 'old', store);
    // The node with the outdated files renews its record first.
    await vi.advanceTimersByTimeAsync(3_000);
    store.state.isAvailable = true;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(store.state.files).toBe('"new"');
    await current.close();
    await outdated.close();
  });

  it('replaces the stored files after an outage if the node that read them has stopped', async () => {
    const store = createStore();
    const current = await startNode('a', 'new', store);
    const outdated = await startNode('b', 'old', store);
    store.state.isAvailable = false;
    await vi.advanceTimersByTimeAsync(20_000);
    await current.close();
    store.state.isAvailable = true;
    await vi.advanceTimersByTimeAsync(12_000);
    expect(store.state.files).toBe('"new"');
    await vi.advanceTimersByTimeAsync(12_000);
    expect(store.state.files).toBe('"old"');
    await outdated.close();
  });
});
