import { type Ground, hasTime } from '../scenario.ts';
import { eachConcurrently } from '../support/each-concurrently.ts';
import type { SlowTurn } from '../support/loop-monitor.ts';
import type { WatchedNode } from '../support/watched-node.ts';

/** The inputs of a fuzzer. */
export interface Inputs {
  /** Sends one input and returns the kind of the response. Throws if the response is not valid. */
  readonly send: (index: number) => Promise<string>;
  /** Returns the title of an input for `--match`. */
  readonly titleAt: (index: number) => string;
}

const batchSize = 2_000;
const maxConcurrentInputs = 48;
const shortInputs = 1_500;
const maxTries = 3;
/** Tolerance for the clocks of two processes and for work after a response. */
const slackMs = 200;
const numbers = /^[\d,]+$/;

/** Sends the inputs in batches until the time has passed or all are sent. Checks the node after each batch. */
export async function runInputs(ground: Ground, node: WatchedNode, inputs: Inputs): Promise<void> {
  const { tally, log, match, isShort } = ground;
  if (numbers.test(match)) return replay(match, { log, inputs, node });
  const count = ground.inputs ?? (isShort ? shortInputs : Number.POSITIVE_INFINITY);
  let hasEnded = false;
  void node.ended.then(() => {
    hasEnded = true;
  });
  let nextSayMs = performance.now() + 10_000;
  for (let first = 0; first < count && !hasEnded; first += batchSize) {
    if (ground.inputs === undefined && !isShort && !hasTime(ground)) return;
    const all = Array.from({ length: Math.min(batchSize, count - first) }, (_, index) => first + index);
    const batch = match === '' ? all : all.filter((index) => inputs.titleAt(index).includes(match));
    if (batch.length > 0) await sendBatch(batch, { ground, node, inputs });
    if (performance.now() < nextSayMs) continue;
    nextSayMs = performance.now() + 10_000;
    log(`${(first + all.length).toLocaleString('en-US')} inputs, ${tally.faultCount} faults`);
  }
  tally.require(!hasEnded, () => `the node ended: ${node.output.stderr.slice(-500)}`);
}

interface Batch {
  readonly ground: Ground;
  readonly node: WatchedNode;
  readonly inputs: Inputs;
}

/** Start and end of one input on the clock of `Date.now`. */
interface Span {
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
}

async function sendBatch(batch: readonly number[], { ground, node, inputs }: Batch): Promise<void> {
  const { tally } = ground;
  const spans: Span[] = [];
  const late: number[] = [];
  await eachConcurrently(batch, maxConcurrentInputs, async (index) => {
    tally.count('inputs');
    const startMs = Date.now();
    try {
      tally.count(await inputs.send(index));
    } catch (error) {
      if (isLate(error)) late.push(index);
      else tally.addFault(`input ${index}: ${error instanceof Error ? error.message : error}`);
    }
    spans.push({ index, startMs, endMs: Date.now() });
  });
  const { blockedMs, rssBytes, slowTurns } = await node.peek().catch(() => ({ blockedMs: 0, rssBytes: 0, slowTurns: [] }));
  tally.peak('rss MB', Math.round(rssBytes / 2 ** 20));
  for (const index of late) await sendLate(index, { ground, node, inputs });
  const slow = slowTurns.filter((turn) => turn.blockedMs > tally.mayBlockMs);
  if (slow.length === 0) tally.peak('blocked ms', Math.round(blockedMs));
  else await lookForBlocks(spans, slow, { ground, node, inputs });
}

/** Sends single inputs again by number and logs the results. */
async function replay(match: string, { log, inputs, node }: Pick<Ground, 'log'> & Pick<Batch, 'node' | 'inputs'>): Promise<void> {
  for (const index of match.split(',').map(Number)) {
    await node.peek();
    const came = await inputs.send(index).catch((error: Error) => error.message);
    log(`input ${index}, ${inputs.titleAt(index)}: ${came}, blocked for ${Math.round((await node.peek()).blockedMs)} ms`);
  }
  log(node.output.stdout);
}

function isLate(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('no answer in');
}

/** Sends an input that had no response in time again, alone. Records a fault if it has no response in three tries. */
async function sendLate(index: number, { ground: { tally, log }, inputs }: Batch): Promise<void> {
  tally.count('late answers looked into');
  for (let tries = 0; tries < maxTries; tries += 1) {
    const cause = await inputs.send(index).then(
      () => undefined,
      (error: Error) => error,
    );
    if (!isLate(cause)) return log(`input ${index} had no answer once, and has one alone`);
  }
  tally.addFault(`input ${index}: ${inputs.titleAt(index)}: no answer in ${maxTries} tries`);
}

/**
 * Sends the inputs that were in progress during a slow turn again, each alone. Records a fault if an input blocks the loop in
 * each of three tries. In a single try, the garbage collector or another guest of the host may have taken the time.
 */
async function lookForBlocks(spans: readonly Span[], slow: readonly SlowTurn[], { ground, node, inputs }: Batch): Promise<void> {
  const { tally, log } = ground;
  const suspects = spans.filter(({ startMs, endMs }) =>
    slow.some((turn) => startMs < turn.endMs + slackMs && endMs > turn.endMs - turn.lateMs - slackMs),
  );
  const longest = Math.max(...slow.map(({ blockedMs }) => blockedMs));
  log(`blocked for ${Math.round(longest)} ms in a batch. ${suspects.length} of its inputs are sent again alone`);
  tally.count('blocks looked into');
  for (const { index } of suspects) {
    let least = await blockedAlone(index, { node, inputs });
    for (let tries = 1; tries < maxTries && least > tally.mayBlockMs; tries += 1)
      least = Math.min(least, await blockedAlone(index, { node, inputs }));
    tally.peak('blocked ms', Math.round(least));
    tally.require(
      least <= tally.mayBlockMs,
      () => `input ${index}: ${inputs.titleAt(index)}: blocks the event loop for ${Math.round(least)} ms of the processor's time`,
    );
  }
}

async function blockedAlone(index: number, { node, inputs }: Pick<Batch, 'node' | 'inputs'>): Promise<number> {
  await inputs.send(index).catch(() => undefined);
  return (await node.peek()).blockedMs;
}

/**
 * Returns the kind of a response for the table. 502 and 503 come from upstreams and stores, and so does 500 with
 * `upstream_failed`.
 */
export function toKind(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
