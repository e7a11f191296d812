import { type Ground, hasTime } from '../scenario.ts';
import { eachAtOnce } from '../support/at-once.ts';
import type { SlowTurn } from '../support/loop-monitor.ts';
import type { WatchedNode } from '../support/watched-node.ts';

/** What a fuzzer sends. */
export interface Inputs {
  /** Sends one input, and throws where what comes back is not sane; gives what kind of answer it was. */
  readonly send: (nth: number) => Promise<string>;
  /** What an input is, for `--match`. */
  readonly titleAt: (nth: number) => string;
}

const batchSize = 2_000;
const inputsAtOnce = 48;
const shortInputs = 1_500;
const maxTries = 3;
/** The clocks of two processes, and work after an answer. */
const slackMs = 200;
const numbers = /^[\d,]+$/;

/** Sends one input after the other in batches, until the time is over or all were sent; looks at the node after each batch. */
export async function runInputs(ground: Ground, node: WatchedNode, inputs: Inputs): Promise<void> {
  const { tally, say, match, isShort } = ground;
  if (numbers.test(match)) return replay(match, { say, inputs, node });
  const count = ground.inputs ?? (isShort ? shortInputs : Number.POSITIVE_INFINITY);
  let hasEnded = false;
  void node.ended.then(() => {
    hasEnded = true;
  });
  let nextSayMs = performance.now() + 10_000;
  for (let first = 0; first < count && !hasEnded; first += batchSize) {
    if (ground.inputs === undefined && !isShort && !hasTime(ground)) return;
    const all = Array.from({ length: Math.min(batchSize, count - first) }, (_, at) => first + at);
    const batch = match === '' ? all : all.filter((nth) => inputs.titleAt(nth).includes(match));
    if (batch.length > 0) await sendBatch(batch, { ground, node, inputs });
    if (performance.now() < nextSayMs) continue;
    nextSayMs = performance.now() + 10_000;
    say(`${(first + all.length).toLocaleString('en-US')} inputs, ${tally.faultCount} faults`);
  }
  tally.require(!hasEnded, () => `the node ended: ${node.output.stderr.slice(-500)}`);
}

interface Batch {
  readonly ground: Ground;
  readonly node: WatchedNode;
  readonly inputs: Inputs;
}

/** When an input was sent and answered, on the clock of `Date.now`. */
interface Span {
  readonly nth: number;
  readonly startMs: number;
  readonly endMs: number;
}

async function sendBatch(batch: readonly number[], { ground, node, inputs }: Batch): Promise<void> {
  const { tally } = ground;
  const spans: Span[] = [];
  const late: number[] = [];
  await eachAtOnce(batch, inputsAtOnce, async (nth) => {
    tally.count('inputs');
    const startMs = Date.now();
    try {
      tally.count(await inputs.send(nth));
    } catch (thrown) {
      if (isLate(thrown)) late.push(nth);
      else tally.fault(`input ${nth}: ${thrown instanceof Error ? thrown.message : thrown}`);
    }
    spans.push({ nth, startMs, endMs: Date.now() });
  });
  const { blockedMs, rssBytes, slowTurns } = await node.look().catch(() => ({ blockedMs: 0, rssBytes: 0, slowTurns: [] }));
  tally.peak('rss MB', Math.round(rssBytes / 2 ** 20));
  for (const nth of late) await sendLate(nth, { ground, node, inputs });
  const slow = slowTurns.filter((turn) => turn.blockedMs > tally.mayBlockMs);
  if (slow.length === 0) tally.peak('blocked ms', Math.round(blockedMs));
  else await lookForBlocks(spans, slow, { ground, node, inputs });
}

/** Sends single inputs again, by their numbers, and shows what came of them. */
async function replay(match: string, { say, inputs, node }: Pick<Ground, 'say'> & Pick<Batch, 'node' | 'inputs'>): Promise<void> {
  for (const nth of match.split(',').map(Number)) {
    await node.look();
    const came = await inputs.send(nth).catch((thrown: Error) => thrown.message);
    say(`input ${nth}, ${inputs.titleAt(nth)}: ${came}; blocked for ${Math.round((await node.look()).blockedMs)} ms`);
  }
  say(node.output.stdout);
}

function isLate(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith('no answer in');
}

/** An input without an answer in time is sent again alone. It is a fault if it has no answer in three tries. */
async function sendLate(nth: number, { ground: { tally, say }, inputs }: Batch): Promise<void> {
  tally.count('late answers looked into');
  for (let tries = 0; tries < maxTries; tries += 1) {
    const thrown = await inputs.send(nth).then(
      () => undefined,
      (error: Error) => error,
    );
    if (!isLate(thrown)) return say(`input ${nth} had no answer once, and has one alone`);
  }
  tally.fault(`input ${nth}: ${inputs.titleAt(nth)}: no answer in ${maxTries} tries`);
}

/**
 * Sends the inputs that were in progress during a slow turn again, each alone. An input that blocks the loop in each of three tries is a
 * fault. In one try the collector, or another guest of the host, may have taken the time.
 */
async function lookForBlocks(spans: readonly Span[], slow: readonly SlowTurn[], { ground, node, inputs }: Batch): Promise<void> {
  const { tally, say } = ground;
  const suspects = spans.filter(({ startMs, endMs }) =>
    slow.some((turn) => startMs < turn.endMs + slackMs && endMs > turn.endMs - turn.lateMs - slackMs),
  );
  const longest = Math.max(...slow.map(({ blockedMs }) => blockedMs));
  say(`blocked for ${Math.round(longest)} ms in a batch; ${suspects.length} of its inputs are sent alone`);
  tally.count('blocks looked into');
  for (const { nth } of suspects) {
    let least = await blockedAlone(nth, { node, inputs });
    for (let tries = 1; tries < maxTries && least > tally.mayBlockMs; tries += 1)
      least = Math.min(least, await blockedAlone(nth, { node, inputs }));
    tally.peak('blocked ms', Math.round(least));
    tally.require(
      least <= tally.mayBlockMs,
      () => `input ${nth}: ${inputs.titleAt(nth)}: blocks the event loop for ${Math.round(least)} ms of the processor's time`,
    );
  }
}

async function blockedAlone(nth: number, { node, inputs }: Pick<Batch, 'node' | 'inputs'>): Promise<number> {
  await inputs.send(nth).catch(() => undefined);
  return (await node.look()).blockedMs;
}

/** The kind of an answer, for the table: 502 and 503 are of upstreams and stores, 500 with `upstream_failed` too. */
export function kindOf(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
