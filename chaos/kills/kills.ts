import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { call } from '../support/call.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { startSharedStores } from '../support/shared-stores.ts';
import { requireQuietLog } from '../support/watched-node.ts';
import type { Tally } from '../tally.ts';
import { Ledger, openRegisters } from './registers.ts';

const shortKills = 2;

/** Kills a single node with SQLite by kill -9 during writes. */
export const killsOfOne: Scenario = {
  name: 'kills',
  title: 'kill -9 during writes, with SQLite and files on disk',
  weight: 2,
  async run(ground) {
    await using upstream = await startCalmUpstream();
    await using folder = await openFolder();
    const configuration = calmConfiguration(upstream.url);
    const start = () => startProcess({ configuration, flags: ['--data', folder.path], environment: { LOG_LEVEL: 'error' } });
    let node = await start();
    try {
      const ledger = new Ledger(await openRegisters(node.url), ground.tally);
      for (let round = 0; goesOn(ground, round); round += 1) {
        await writeAndKill(ground, node, ledger);
        requireQuietLog(node, ground.tally);
        await node[Symbol.asyncDispose]();
        node = await start();
        await ledger.check(node.url, `after kill ${round}`);
      }
    } finally {
      await node[Symbol.asyncDispose]();
    }
  },
};

/** Kills nodes with PostgreSQL, Redis, and S3. Acknowledged writes must be visible on the other node immediately. */
export const killsOfNodes: Scenario = {
  name: 'kills-shared',
  title: 'kill -9 during writes, with PostgreSQL, Redis, and S3',
  weight: 2,
  async run(ground) {
    await using upstream = await startCalmUpstream();
    await using stores = await startSharedStores();
    const environment = { LOG_LEVEL: 'error', ...stores.environment };
    const start = () => startProcess({ configuration: calmConfiguration(upstream.url), environment });
    await using otherNode = await start();
    let node = await start();
    try {
      const ledger = new Ledger(await openRegisters(node.url), ground.tally);
      const count = new CallCount(ground.tally);
      for (let round = 0; goesOn(ground, round); round += 1) {
        await writeAndKill(ground, node, ledger, count);
        await ledger.check(otherNode.url, `on the other node after kill ${round}`);
        await count.check(otherNode.url);
        await node[Symbol.asyncDispose]();
        node = await start();
      }
      requireQuietLog(otherNode, ground.tally);
    } finally {
      await node[Symbol.asyncDispose]();
    }
  },
};

function goesOn({ isShort, ...ground }: Ground, round: number): boolean {
  return isShort ? round < shortKills : round === 0 || hasTime(ground);
}

/** Writes to every register concurrently and kills the node at a random moment. */
async function writeAndKill({ random, tally, log }: Ground, node: TestProcess, ledger: Ledger, count?: CallCount): Promise<void> {
  let hasEnded = false;
  const writing = [...ledger.registers].map((register) => ledger.writeOn(node.url, register, () => hasEnded));
  const counting = count === undefined ? [] : [count.callOn(node.url, () => hasEnded), count.callOn(node.url, () => hasEnded)];
  await sleep(100 + random.below(500));
  process.kill(node.pid, 'SIGKILL');
  hasEnded = true;
  await Promise.all([...writing, ...counting, node.ended]);
  tally.count('kills');
  const { kills = 0, acknowledged = 0 } = tally.figures;
  if (kills % 10 === 0) log(`${kills} kills, ${acknowledged} writes acknowledged, ${tally.faultCount} faults`);
}

/** Calls that a limit counts. Answered calls must be counted even if the node is killed. */
class CallCount {
  readonly #tally: Tally;
  #answered = 0;
  #sent = 0;

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  async callOn(url: string, hasEnded: () => boolean): Promise<void> {
    while (!hasEnded()) {
      this.#sent += 1;
      const { status } = await call(url, { deployment: 'bounded', isStream: false, isMessages: false });
      if (status === 200) {
        this.#answered += 1;
        this.#tally.count('counted calls');
      }
    }
  }

  async check(url: string): Promise<void> {
    const answered = await sendRequest(url, {
      method: 'GET',
      path: '/v1/deployments/bounded/limits',
      headers: { 'api-key': callerKey },
    });
    const { dayRequestStats } = answered.json as { dayRequestStats: { used: number } };
    const { used } = dayRequestStats;
    const isWithin = used >= this.#answered && used <= this.#sent;
    this.#tally.require(isWithin, () => `the limit counts ${used}, with ${this.#answered} answered and ${this.#sent} sent`);
  }
}
