import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { finish, hello, text } from '#test/chunks.ts';
import type { TestProcess } from '#test/start-process.ts';
import { type Cluster, get, getHealth, getNode, secret, startCluster, toConfiguration } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let cluster: Cluster;
let changed: TestProcess;
let others: readonly TestProcess[];

beforeAll(async () => {
  cluster = await startCluster(3);
  changed = getNode(cluster, 0);
  others = cluster.nodes.slice(1);
});

afterAll(() => cluster[Symbol.asyncDispose]());

async function listModels(node: TestProcess): Promise<readonly string[]> {
  const { data } = (await get(node, '/v1/models')).json as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function withModel(id: string): object {
  const configuration = toConfiguration(cluster.host.url) as { models: object };
  const upstreams = [{ endpoint: `${cluster.host.url}/v1`, key: 'canary-of-the-upstream' }];
  return { ...configuration, models: { ...configuration.models, [id]: { upstreams } } };
}

describe('configuration that changes on one node', () => {
  it('applies to all nodes, although each has its own files', async () => {
    await changed.configure(withModel('added'));
    for (const node of cluster.nodes)
      await vi.waitFor(async () => expect(await listModels(node)).toContain('added'), { timeout: 10_000, interval: 50 });
    for (const node of others) expect((await node.chat('added', { messages: hello })).status).toBe(200);
    expect(cluster.host.requests.at(-1)?.headers.authorization).toBe('Bearer canary-of-the-upstream');
  });

  it('is rejected by that node alone if it is invalid, and changes no node', async () => {
    await changed.configure({ modles: {} });
    await vi.waitFor(async () => expect((await getHealth(changed)).codes).toEqual(['configuration_refused']), {
      timeout: 10_000,
      interval: 50,
    });
    for (const node of others) expect((await getHealth(node)).codes).toEqual(['configuration_differs']);
    for (const node of cluster.nodes) expect(await listModels(node)).toContain('added');
  });

  it('does not end streams on other nodes', async () => {
    const [other = expect.unreachable()] = others;
    const resume = Promise.withResolvers<void>();
    cluster.host.script(async (exchange) => {
      exchange.head();
      await exchange.events(text('x'));
      await resume.promise;
      await exchange.events(...Array(99).fill(text('x')), finish());
      exchange.done();
    });
    const reader = await other.stream('added', { messages: hello });
    await reader.next();
    await changed.configure(withModel('other'));
    await vi.waitFor(async () => expect(await listModels(other)).not.toContain('added'), { timeout: 10_000, interval: 50 });
    resume.resolve();
    const { content, isDone } = await reader.readRest();
    expect([content(), isDone]).toEqual(['x'.repeat(100), true]);
  });

  it('is rejected by nodes that do not know a setting, with all reasons in their logs', async () => {
    const unknownSettings = { ...withModel('odd'), modles: {}, telemtry: 'canary-in-a-setting' };
    const sealed = new Seal([new Secret(secret)]).seal(JSON.stringify(unknownSettings), 'configuration files');
    // The record of a newer node, which other nodes must not replace.
    await cluster.query(`insert into nodes values ('newer', ${Date.now() + 600_000}, 'newer', '{}')`);
    // One statement, because the nodes also write.
    await cluster.query(`with next as (update runtime_revision set revision = revision + 1 returning revision)
      update file_layer set revision = next.revision, digest = 'newer', sealed_files = '${sealed}' from next`);
    for (const node of cluster.nodes) {
      await node.untilOutput(/"level":"error".*rejected the configuration of another node: modles: is not a known key/);
      await node.untilOutput(/"level":"error".*rejected the configuration of another node: telemtry: is not a known key/);
      expect(await listModels(node)).not.toContain('odd');
    }
  });

  it('exposes no secrets in the logs or the database', async () => {
    for (const { output } of cluster.nodes) expect(output.stdout + output.stderr).not.toContain('canary');
    expect(JSON.stringify(await cluster.query('select * from file_layer'))).not.toContain('canary');
    expect(await cluster.query("select details from audit_records where details like '%canary%'")).toEqual([]);
  });
});
