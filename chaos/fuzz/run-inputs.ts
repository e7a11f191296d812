import { type Ground, hasTime } from '../scenario.ts';
import { eachAtOnce } from '../support/at-once.ts';
import type { WatchedNode } from '../support/watched-node.ts';

/** Sends one input, and throws where what comes back is not sane; gives what kind of answer it was. */
export type Send = (nth: number) => Promise<string>;

const batchSize = 500;
const inputsAtOnce = 12;
const shortInputs = 1_500;

/** Sends one input after the other in batches, until the time is over or all were sent; looks at the node after each batch. */
export async function runInputs({ tally, inputs, say, ...ground }: Ground, node: WatchedNode, send: Send): Promise<void> {
  if (ground.match !== '') return replay(ground.match, { say, send, node });
  const count = inputs ?? (ground.isShort ? shortInputs : Number.POSITIVE_INFINITY);
  let hasEnded = false;
  void node.ended.then(() => {
    hasEnded = true;
  });
  let nextSayMs = performance.now() + 10_000;
  for (let first = 0; first < count && !hasEnded; first += batchSize) {
    if (inputs === undefined && !ground.isShort && !hasTime(ground)) return;
    const batch = Array.from({ length: Math.min(batchSize, count - first) }, (_, at) => first + at);
    const take = async (nth: number): Promise<void> => {
      tally.count('inputs');
      try {
        tally.count(await send(nth));
      } catch (thrown) {
        tally.fault(`input ${nth}: ${thrown instanceof Error ? thrown.message : thrown}`);
      }
    };
    await eachAtOnce(batch, inputsAtOnce, take);
    if (hasEnded) break;
    await lookForBlocks({ tally, say }, { node, send, batch });
    if (performance.now() < nextSayMs) continue;
    nextSayMs = performance.now() + 10_000;
    say(`${(first + batch.length).toLocaleString('en-US')} inputs, ${tally.faultCount} faults`);
  }
  tally.require(!hasEnded, () => `the node ended: ${node.output.stderr.slice(-500)}`);
}

/** Sends single inputs again, by their numbers, and shows what came of them. */
async function replay(numbers: string, { say, send, node }: Pick<Ground, 'say'> & Pick<Batch, 'node' | 'send'>): Promise<void> {
  for (const nth of numbers.split(',').map(Number)) {
    await node.read();
    const came = await send(nth).catch((thrown: Error) => thrown.message);
    say(`input ${nth}: ${came}; blocked for ${Math.round((await node.read()).blockedMs)} ms`);
  }
  say(node.output.stdout);
}

interface Batch {
  readonly node: WatchedNode;
  readonly send: Send;
  readonly batch: readonly number[];
}

/**
 * Sends the inputs of a batch that blocked the loop again, each alone. An input that blocks the loop in each of three tries is a fault. In
 * one try the collector, or another guest of the host, may have taken the time.
 */
async function lookForBlocks({ tally, say }: Pick<Ground, 'tally' | 'say'>, { node, send, batch }: Batch): Promise<void> {
  const { blockedMs, rssBytes } = await node.read();
  tally.peak('rss MB', Math.round(rssBytes / 2 ** 20));
  if (blockedMs <= tally.mayBlockMs) {
    tally.peak('blocked ms', Math.round(blockedMs));
    return;
  }
  say(`blocked for ${Math.round(blockedMs)} ms in a batch; its inputs are sent alone`);
  tally.count('blocks looked into');
  for (const nth of batch) {
    let least = await blockedAlone(nth, { node, send });
    for (let tries = 1; tries < 3 && least > tally.mayBlockMs; tries += 1)
      least = Math.min(least, await blockedAlone(nth, { node, send }));
    tally.peak('blocked ms', Math.round(least));
    tally.require(least <= tally.mayBlockMs, () => `input ${nth} blocks the event loop for ${Math.round(least)} ms`);
  }
}

async function blockedAlone(nth: number, { node, send }: Pick<Batch, 'node' | 'send'>): Promise<number> {
  await send(nth).catch(() => undefined);
  return (await node.read()).blockedMs;
}

/** The kind of an answer, for the table: 502 and 503 are of upstreams and stores, 500 with `upstream_failed` too. */
export function kindOf(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
