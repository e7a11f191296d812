import { freePort } from '#test/listening.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { call, readOutcome } from '../support/call.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { startSharedStores } from '../support/shared-stores.ts';
import { requireQuietLog } from '../support/watched-node.ts';
import type { Tally } from '../tally.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/** Restarts nodes behind nginx one after the other while streams are in progress. */
export const rollingRestart: Scenario = {
  name: 'rolling',
  title: 'Nodes behind nginx that restart one after the other',
  weight: 2,
  async run(ground) {
    const { tally, isShort } = ground;
    await using upstream = await startCalmUpstream();
    // Nodes without shared stores restart in the same way but start faster.
    await using stores = isShort ? undefined : await startSharedStores();
    const environment = { LOG_LEVEL: 'error', PARLEY_LAME_DUCK_MS: '2000', ...stores?.environment };
    const start = (port: number) =>
      startProcess({ configuration: calmConfiguration(upstream.url), environment, flags: ['--port', String(port)] });
    const ports = await Promise.all(Array.from({ length: isShort ? 2 : 3 }, freePort));
    const nodes = new Map<number, TestProcess>();
    for (const port of ports) nodes.set(port, await start(port));
    try {
      await using balancer = await startBalancer(ports);
      const streams = new Streams(tally, balancer.url, isShort ? 8 : 30);
      const rounds = isShort ? ports.slice(0, 1) : ports;
      do {
        for (const port of rounds) await restart(ground, { port, ports, nodes, start, balancer });
      } while (!isShort && hasTime(ground));
      await streams.stop();
    } finally {
      await Promise.all([...nodes.values()].map((node) => node[Symbol.asyncDispose]()));
    }
  },
};

interface Fleet {
  readonly port: number;
  readonly ports: readonly number[];
  readonly nodes: Map<number, TestProcess>;
  readonly start: (port: number) => Promise<TestProcess>;
  readonly balancer: Balancer;
}

async function restart({ tally, log }: Ground, { port, ports, nodes, start, balancer }: Fleet): Promise<void> {
  const node = nodes.get(port);
  if (node === undefined) return;
  await balancer.uses(ports);
  node.kill('SIGTERM');
  const { code } = await node.ended;
  tally.count('restarts');
  tally.require(code === 0, () => `a stopped node ended with ${code}: ${node.output.stderr.slice(-300)}`);
  requireQuietLog(node, tally);
  await node[Symbol.asyncDispose]();
  nodes.set(port, await start(port));
  await balancer.uses(ports);
  const { restarts = 0, streams = 0 } = tally.figures;
  log(`${restarts} restarts, ${streams} streams, ${tally.faultCount} faults`);
}

/** Streams and complete calls without a pause. */
class Streams {
  readonly #tally: Tally;
  #hasEnded = false;
  readonly #running: Promise<unknown>;

  constructor(tally: Tally, url: string, count: number) {
    this.#tally = tally;
    this.#running = Promise.all(Array.from({ length: count }, (_, index) => this.#callOn(url, index % 3 !== 0)));
  }

  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#running;
  }

  async #callOn(url: string, isStream: boolean): Promise<void> {
    while (!this.#hasEnded) {
      const result = await call(url, {
        deployment: isStream ? 'free' : 'bounded',
        isStream,
        isMessages: false,
        prompt: 'pieces 40',
      });
      this.#tally.count(isStream ? 'streams' : 'whole calls');
      try {
        const outcome = readOutcome(result, false);
        if (outcome.kind === 'error') throw new Error(`${outcome.status} ${result.text.slice(-300)}`);
      } catch (error) {
        this.#tally.addFault(`a ${isStream ? 'stream' : 'call'} broke: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}
