import type { Random } from '../random.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { call, readOutcome } from '../support/call.ts';
import { eachConcurrently } from '../support/each-concurrently.ts';
import { requireSettled, requireUnblocked, startWatched } from '../support/watched-node.ts';
import type { Tally } from '../tally.ts';
import { type BadListeners, startBadListeners } from './bad-listeners.ts';
import { bodyFaults } from './body-faults.ts';
import { type Expectation, type Fault, framed } from './fault.ts';
import { createUpstream, type Dialect, dialects, goodReply, goodText } from './good-replies.ts';
import { headFaults } from './head-faults.ts';
import { startHostileUpstream } from './hostile-upstream.ts';
import { statusFaults } from './status-faults.ts';
import { streamFaults } from './stream-faults.ts';

const faults: readonly Fault[] = [...headFaults, ...statusFaults, ...bodyFaults, ...streamFaults];
const maxConcurrentCalls = 24;
const timeouts = { connectMs: 2_000, firstByteMs: 2_000, idleMs: 2_000 };
/** Cases that send more bytes run alone, because they may keep the node busy. */
const heavyBytes = 1_000_000;

/** One call with its fault, the dialect of the upstream, and the form of the request. */
interface Case {
  readonly id: string;
  readonly name: string;
  readonly expects: Expectation;
  readonly statuses: readonly number[] | undefined;
  readonly dialect: Dialect;
  readonly isStream: boolean;
  readonly isMessages: boolean;
  /** URL of the upstream. Default: the hostile upstream with the fault of this case. */
  readonly url?: string;
  readonly fault?: Fault;
}

/** Upstreams with every fault, streamed and complete, in every dialect, called by both surfaces. */
export const upstreamFaults: Scenario = {
  name: 'upstreams',
  title: 'Upstreams that fail at each phase',
  weight: 3,
  async run(ground) {
    await using listeners = await startBadListeners();
    ground.tally.count('kinds', faults.length + listeners.all.length);
    const rounds = ground.isShort ? [undefined] : dialects;
    for (const dialect of rounds) {
      if (!ground.isShort && !hasTime(ground)) return;
      ground.log(dialect === undefined ? 'each fault once' : `in the dialect ${dialect}`);
      await runRound(
        ground,
        [...toCases(ground.random, dialect), ...toConnectionCases(ground.random, listeners)],
        listeners.caPath,
      );
    }
  },
};

/** Lists each fault once with a random form, or with all forms of one dialect. */
function toCases(random: Random, only: Dialect | undefined): readonly Case[] {
  return faults.flatMap((fault, index) => {
    const modes = fault.only === undefined ? [true, false] : [fault.only === 'stream'];
    const drawn = only === undefined ? [random.pick(modes)] : modes;
    return drawn.map((isStream): Case => {
      const { name, expects, statuses } = fault;
      const dialect = only ?? random.pick(dialects);
      const isMessages = random.chance(0.4);
      return { id: `f${index}${isStream ? 's' : 'w'}`, name, expects, statuses, dialect, isStream, isMessages, fault };
    });
  });
}

function toConnectionCases(random: Random, { all }: BadListeners): readonly Case[] {
  return all.map(({ name, url, expects }, index) => {
    const [isStream, isMessages] = [random.chance(0.5), random.chance(0.4)];
    return {
      id: `c${index}`,
      name,
      expects,
      statuses: expects === 'answered' ? undefined : [500, 503],
      dialect: 'openai',
      isStream,
      isMessages,
      url,
    };
  });
}

function isHeavy({ fault, dialect, isStream }: Case): boolean {
  const steps = fault?.steps(goodReply(dialect, isStream)) ?? [];
  return (
    steps.some((step) => Buffer.isBuffer(step) && step.length > heavyBytes) ||
    /300 MB|as fast|one event without/.test(fault?.name ?? '')
  );
}

async function runRound({ tally, match, log }: Ground, all: readonly Case[], caPath: string): Promise<void> {
  const cases = all.filter(({ name }) => name.includes(match));
  const byId = new Map(cases.map((item) => [item.id, item]));
  await using upstream = await startHostileUpstream(({ path, body }) => {
    const faultCase = byId.get(/^\/([^/]+)/.exec(path)?.[1] ?? '');
    if (faultCase === undefined) return [];
    const good = goodReply(faultCase.dialect, body.includes('"stream":true') || /stream/i.test(path.split('?')[0] ?? ''));
    return faultCase.fault?.steps(good) ?? framed(good);
  });
  const toModel = ({ id, dialect, url = `${upstream.url}/${id}` }: Case): [string, object] => {
    const { model, upstream: fields } = createUpstream(dialect, url);
    return [id, { ...model, maxRetryAttempts: 1, upstreams: [{ ...fields, timeouts }] }];
  };
  for (const dialect of dialects) byId.set(`calm-${dialect}`, calmCase(dialect));
  const models = Object.fromEntries([...byId.values()].map(toModel));
  await using node = await startWatched({ configuration: { models }, environment: { NODE_EXTRA_CA_CERTS: caPath } });
  // The first call of a dialect loads its modules.
  for (const { id, isMessages } of [...dialects, ...dialects].map(calmCase))
    for (const isStream of [true, false]) await call(node.url, { deployment: id, isStream, isMessages });
  const before = await node.collectAndRead();
  const [heavy, light] = [cases.filter(isHeavy), cases.filter((item) => !isHeavy(item))];
  await eachConcurrently(light, maxConcurrentCalls, (faultCase) => runCase(node.url, faultCase, tally));
  requireUnblocked('small replies', await node.collectAndRead(), tally);
  for (const faultCase of heavy) {
    const beganMs = performance.now();
    await runCase(node.url, faultCase, tally);
    const seconds = (performance.now() - beganMs) / 1000;
    if (seconds > 3) log(`${toTitle(faultCase)} took ${seconds.toFixed(1)} s`);
    requireUnblocked(toTitle(faultCase), await node.collectAndRead(), tally);
  }
  const calmly = await call(node.url, { deployment: 'calm-openai', isStream: false, isMessages: false });
  tally.require(
    calmly.status === 200,
    () => `afterwards a good upstream is answered with ${calmly.status} ${calmly.text.slice(0, 200)}`,
  );
  await requireSettled(node, before, tally);
}

/** Creates a case without a fault. */
function calmCase(dialect: Dialect): Case {
  return {
    id: `calm-${dialect}`,
    name: 'calm',
    expects: 'answered',
    statuses: undefined,
    dialect,
    isStream: false,
    isMessages: false,
  };
}

function toTitle({ name, dialect, isStream, isMessages }: Case): string {
  return `${name} (${dialect}, ${isStream ? 'streamed' : 'whole'}, ${isMessages ? 'messages' : 'chat'})`;
}

async function runCase(url: string, faultCase: Case, tally: Tally): Promise<void> {
  const { id, isStream, isMessages, expects } = faultCase;
  const leaving = expects === 'endless' ? { leaveAfterMs: 600 } : {};
  const result = await call(url, { deployment: id, isStream, isMessages, ...leaving });
  tally.count('calls');
  tally.peak('longest ms', Math.round(result.ms));
  const title = toTitle(faultCase);
  if (expects === 'endless') {
    tally.require(
      [0, 200].includes(result.status) && result.error === undefined,
      () => `${title}: ${result.status} ${result.error}`,
    );
    return;
  }
  try {
    const outcome = readOutcome(result, isMessages);
    tally.count(outcome.kind === 'answer' ? 'answered' : 'refused');
    if (expects === 'answered' && (outcome.kind !== 'answer' || outcome.content !== goodText))
      tally.addFault(`${title}: harmless, but answered with ${result.status} ${result.text.slice(0, 300)}`);
    if (expects === 'refused' && outcome.kind !== 'error')
      tally.addFault(`${title}: answered as if it were valid: ${result.text.slice(0, 300)}`);
    if (faultCase.statuses !== undefined && outcome.kind === 'error' && !faultCase.statuses.includes(outcome.status))
      tally.addFault(
        `${title}: answered with ${outcome.status}, not with ${faultCase.statuses.join(' or ')}: ${result.text.slice(0, 200)}`,
      );
  } catch (error) {
    tally.addFault(`${title}: ${error instanceof Error ? error.message : error}`);
  }
}
