import { findFreePort } from '#test/listening.ts';
import { sendRequest } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { Ledger, openRegisters } from '../kills/registers.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { type Call, call, readOutcome } from '../support/call.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { startSharedStores } from '../support/shared-stores.ts';
import { requireQuietLog } from '../support/watched-node.ts';
import type { Tally } from '../tally.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/**
 * Replaces nodes behind nginx one after the other while streams are in progress and data is written. With `ground.from`, the nodes
 * of the first round run that version, and this version replaces them.
 */
export const rollingRestart: Scenario = {
  name: 'rolling',
  title: 'Nodes behind nginx that are replaced one after the other, with PostgreSQL, Redis, and S3',
  weight: 2,
  async run(ground) {
    const { tally, isShort, from } = ground;
    await using upstream = await startCalmUpstream();
    await using stores = await startSharedStores();
    const environment = { LOG_LEVEL: 'error', PARLEY_LAME_DUCK_MS: '2000', ...stores.environment };
    const configuration = calmConfiguration(upstream.url);
    const start = (port: number, program?: string) =>
      startProcess({ configuration, environment, flags: ['--port', String(port)], ...(program !== undefined && { program }) });
    const ports = await Promise.all(Array.from({ length: isShort ? 2 : 3 }, findFreePort));
    const nodes = new Map<number, TestProcess>();
    for (const port of ports) nodes.set(port, await start(port, from));
    try {
      await using balancer = await startBalancer(ports);
      const registers = (await openRegisters(balancer.url)).filter(({ name }) => name.endsWith('0'));
      const fleet = { ports, nodes, start, balancer, ledger: new Ledger(registers, tally) };
      const calls = new Calls(tally, balancer.url, isShort ? 8 : 30);
      do {
        for (const port of ports) await replace(ground, port, fleet);
      } while (!isShort && hasTime(ground));
      await calls.stop();
      await requireCounted(balancer.url, tally);
    } finally {
      await Promise.all([...nodes.values()].map((node) => node[Symbol.asyncDispose]()));
    }
  },
};

interface Fleet {
  readonly ports: readonly number[];
  readonly nodes: Map<number, TestProcess>;
  readonly start: (port: number) => Promise<TestProcess>;
  readonly balancer: Balancer;
  readonly ledger: Ledger;
}

/** Stops a node, starts this version in its place, and compares what each node reads with what was written meanwhile. */
async function replace({ tally, log }: Ground, port: number, { ports, nodes, start, balancer, ledger }: Fleet): Promise<void> {
  const node = nodes.get(port);
  if (node === undefined) return;
  await balancer.uses(ports);
  let isReplaced = false;
  const writing = [...ledger.registers].map((register) => ledger.writeOn(balancer.url, register, () => isReplaced));
  node.kill('SIGTERM');
  const { code } = await node.ended;
  tally.count('restarts');
  tally.require(code === 0, () => `a stopped node ended with ${code}: ${node.output.stderr.slice(-300)}`);
  requireQuietLog(node, tally);
  await node[Symbol.asyncDispose]();
  nodes.set(port, await start(port));
  await balancer.uses(ports);
  isReplaced = true;
  await Promise.all(writing);
  for (const [readPort, { url }] of nodes)
    await ledger.check(url, `on ${readPort === port ? 'the new node' : 'another node'} after a restart`);
  const { restarts = 0, streams = 0 } = tally.figures;
  log(`${restarts} restarts, ${streams} streams, ${tally.faultCount} faults`);
}

/** Requires that the limit counts each JSON call once, regardless of the node that served it. */
async function requireCounted(url: string, tally: Tally): Promise<void> {
  const limits = await sendRequest(url, { method: 'GET', path: '/v1/deployments/bounded/limits', headers: withKey() });
  const { dayRequestStats } = limits.json as { dayRequestStats: { used: number } };
  const { 'JSON calls': sent = 0 } = tally.figures;
  tally.require(dayRequestStats.used === sent, () => `the limit counts ${dayRequestStats.used} of ${sent} calls`);
}

/** A third of the calls is JSON. Some streams take longer than the time in which a stopping node accepts calls. */
const kinds: readonly Pick<Call, 'deployment' | 'isStream' | 'isMessages' | 'prompt'>[] = [
  { deployment: 'bounded', isStream: false, isMessages: false },
  { deployment: 'free', isStream: true, isMessages: false, prompt: 'pieces 40' },
  { deployment: 'free', isStream: true, isMessages: true, prompt: 'pieces 40' },
  { deployment: 'bounded', isStream: false, isMessages: false },
  { deployment: 'free', isStream: true, isMessages: false, prompt: 'pieces 40 every 80' },
  { deployment: 'free', isStream: true, isMessages: true, prompt: 'pieces 40 every 80' },
];

/** Streams and JSON calls without a pause. */
class Calls {
  readonly #tally: Tally;
  #hasEnded = false;
  readonly #running: Promise<unknown>;

  constructor(tally: Tally, url: string, count: number) {
    this.#tally = tally;
    const clients = Array.from({ length: count }, (_, index) => kinds[index % kinds.length]);
    this.#running = Promise.all(clients.map((kind) => kind && this.#callOn(url, kind)));
  }

  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#running;
  }

  async #callOn(url: string, kind: (typeof kinds)[number]): Promise<void> {
    const { isStream, isMessages } = kind;
    let expected: string | undefined;
    while (!this.#hasEnded) {
      const result = await call(url, { ...kind, maxMs: 30_000 });
      this.#tally.count(isStream ? 'streams' : 'JSON calls');
      try {
        const outcome = readOutcome(result, isMessages);
        if (outcome.kind === 'error') throw new Error(`${outcome.status} ${result.text.slice(-300)}`);
        expected ??= outcome.content;
        if (outcome.content !== expected) throw new Error(`${outcome.content.length} of ${expected.length} characters`);
      } catch (error) {
        this.#tally.addFault(`a ${isStream ? 'stream' : 'call'} broke: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}
