/**
 * Measures changes at run time on three nodes with PostgreSQL: `npm run bench:administration`. Applies 1,000 models, 1,000 projects,
 * and 10,000 keys, then measures lists, changes until they are in force on the other nodes, and revoked keys.
 */

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '#test/start-postgres.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { report, Timings } from './responses/timings.ts';

const admin = 'administrator-of-this-bench';
const headers = { 'api-key': admin, 'content-type': 'application/json' };
const entriesPerApply = 1_000;
const pollMs = 10;

await using postgres = await startPostgres('fsync=on', 'shared_buffers=128MB');
const configuration = {
  models: { demo: { upstreams: [{ protocol: 'demo' }] } },
  keys: { [admin]: { project: 'bench', role: 'admin' } },
};
const environment = { PARLEY_DATABASE_URL: postgres.url, PARLEY_SECRET: randomBytes(32).toString('hex') };
const nodes = await Promise.all([1, 2, 3].map(() => startProcess({ configuration, environment })));
const [first, ...peers] = nodes as [TestProcess, ...TestProcess[]];

async function request(node: TestProcess, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${node.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok && response.status !== 404) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

const readModelWithKey = (node: TestProcess, key: string) => fetch(`${node.url}/v1/models/demo`, { headers: { 'api-key': key } });
const toDigest = (key: string) => createHash('sha256').update(key).digest('hex');
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Applies entries in documents of 1,000. */
async function apply(section: string, count: number, toEntry: (index: number) => object): Promise<void> {
  const timings = new Timings();
  for (let from = 0; from < count; from += entriesPerApply) {
    const ids = range(Math.min(entriesPerApply, count - from)).map((offset) => from + offset);
    const entries = Object.fromEntries(ids.map((index) => [`${section}-${index}`, toEntry(index)]));
    await timings.time(() => request(first, 'POST', '/v1/admin/apply', { [section]: entries }));
  }
  report(`apply ${entriesPerApply} of ${count} ${section}`, timings);
}

/** Measures the time until a condition holds on every other node. */
async function timeUntilOnPeers(
  timings: Timings,
  change: () => Promise<unknown>,
  isInForce: (node: TestProcess) => Promise<boolean>,
) {
  const startedMs = performance.now();
  await change();
  for (const node of peers) while (!(await isInForce(node))) await sleep(pollMs);
  timings.add(performance.now() - startedMs);
}

await apply('models', 1_000, () => ({ upstreams: [{ protocol: 'demo' }] }));
await apply('projects', 1_000, () => ({ costLimit: { month: 100 }, totals: { day: 1_000_000 } }));
await apply('keys', 10_000, (index) => ({ project: `projects-${index % 1_000}`, sha256: toDigest(`key-${index}`) }));

for (const kind of ['models', 'projects', 'keys', 'changes']) {
  const timings = new Timings();
  for (const _ of range(20)) await timings.time(async () => (await request(first, 'GET', `/v1/admin/${kind}?limit=50`)).text());
  report(`list 50 ${kind}`, timings);
}

const changes = new Timings();
for (const index of range(20)) {
  const id = `new-${index}`;
  await timeUntilOnPeers(
    changes,
    () => request(first, 'PUT', `/v1/admin/models/${id}`, { upstreams: [{ protocol: 'demo' }] }),
    async (node) => (await fetch(`${node.url}/v1/models/${id}`, { headers })).ok,
  );
}
report('a new model, in force on three nodes', changes);

const revocations = new Timings();
for (const index of range(20)) {
  await timeUntilOnPeers(
    revocations,
    () => request(first, 'DELETE', `/v1/admin/keys/keys-${index}`),
    async (node) => (await readModelWithKey(node, `key-${index}`)).status === 401,
  );
}
report('a revoked key, on three nodes', revocations);

const admissions = new Timings();
for (const index of range(300)) {
  const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 });
  const callHeaders = { ...headers, 'api-key': `key-${1_000 + index}` };
  await admissions.time(async () =>
    (await fetch(`${first.url}/v1/chat/completions`, { method: 'POST', headers: callHeaders, body })).text(),
  );
}
report('a call of the demo with limits', admissions);

for (const node of nodes) await node[Symbol.asyncDispose]();
