import type { Clock } from '#base/clock.ts';
import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { ModelUsage } from '#contract/chunk.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { toModelUsages } from '#domain/usage/usage.ts';
import type { RedisLink } from './redis-link.ts';

const answerTimeoutMs = 2_000;

/** What a call used with a key, and which node made that key. */
interface UsageReport {
  readonly node: string;
  readonly digest: string;
  readonly usage: readonly ModelUsage[];
}

export interface UsageReportsDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** Called with reports that got lost. */
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** Called with what calls with a key of this node used elsewhere. */
  readonly deliver: (digest: string, usage: readonly ModelUsage[]) => void;
}

/** Tells the node that made a key what was used with it on another; it answers, so that the end of a call can wait until it knows. */
export class UsageReports {
  readonly #deps: UsageReportsDeps;
  /** By the number of the report. */
  readonly #unanswered = new Map<number, () => void>();
  #sent = 0;

  constructor(deps: UsageReportsDeps) {
    this.#deps = deps;
    deps.link.hear(channelOf(deps.link.node), (text) => this.#hear(text));
  }

  /** Resolves once the other node has it, or never will. */
  async send(report: UsageReport): Promise<void> {
    this.#sent += 1;
    const id = this.#sent;
    const answered = new Promise<void>((resolve) => this.#unanswered.set(id, resolve));
    const stop = new AbortController();
    try {
      await this.#publish(id, report);
      await Promise.race([answered, this.#late(stop.signal)]);
    } catch (thrown) {
      this.#deps.noteFault('what a call used could not be reported to the node that made its key', thrown);
    } finally {
      this.#unanswered.delete(id);
      stop.abort();
    }
  }

  async #publish(id: number, { node, digest, usage }: UsageReport): Promise<void> {
    const { link } = this.#deps;
    const hearing = await link.publish(channelOf(node), JSON.stringify({ from: link.node, id, digest, usage }));
    if (hearing === 0) throw new StoreFault('the node that made the key is gone');
  }

  async #late(stop: AbortSignal): Promise<never> {
    await this.#deps.clock.sleep(answerTimeoutMs, stop);
    throw new StoreFault('the node that made the key did not answer in time');
  }

  #hear(text: string): void {
    const said = tryParseJson(text);
    if (!isJsonObject(said)) return;
    const { answers, from, id, digest, usage } = said;
    if (typeof answers === 'number') this.#unanswered.get(answers)?.();
    if (typeof from !== 'string' || typeof digest !== 'string') return;
    this.#deps.deliver(digest, toModelUsages(usage as ModelUsage[]));
    // Where the answer gets lost, the other node notes it.
    this.#deps.link.publish(channelOf(from), JSON.stringify({ answers: id })).catch(() => undefined);
  }
}

function channelOf(node: string): string {
  return `parley:usage:${node}`;
}
