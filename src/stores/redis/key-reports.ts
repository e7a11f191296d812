import type { Clock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import type { ModelUsage } from '#contract/chunk.ts';
import type { RightsChange } from '#domain/callers/held-rights.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { toModelUsages } from '#domain/usage/usage.ts';
import type { RedisLink } from './redis-link.ts';
import { toRightsChange } from './stored-rights.ts';

const answerTimeoutMs = 2_000;

/** What happened with a key, to be told to the node that made it: what a call used, and how its rights change. */
export interface KeyReport {
  readonly usage: readonly ModelUsage[];
  readonly rights?: RightsChange;
}

/** A key of another node. */
export interface RemoteKey {
  readonly node: string;
  readonly digest: string;
}

export interface KeyReportsDeps {
  readonly link: RedisLink;
  readonly clock: Clock;
  /** Called with reports that got lost. */
  readonly noteFault: (message: string, thrown: unknown) => void;
  /** Called with what happened elsewhere with a key of this node; it is answered when that resolves, and not where it rejects. */
  readonly deliver: (digest: string, report: KeyReport) => void | Promise<void>;
}

/** Tells the node that made a key what happened with it on another; it answers, so that the other one can wait until it knows. */
export class KeyReports {
  readonly #deps: KeyReportsDeps;
  /** By the number of the report. */
  readonly #unanswered = new Map<number, () => void>();
  #sent = 0;

  constructor(deps: KeyReportsDeps) {
    this.#deps = deps;
    deps.link.hear(channelOf(deps.link.node), (text) => void this.#hear(text));
  }

  /** Resolves once the other node has it, or never will. */
  async sendUsage(key: RemoteKey, usage: readonly ModelUsage[]): Promise<void> {
    await this.#send(key, { usage }).catch((thrown) =>
      this.#deps.noteFault('what a call used could not be reported to the node that made its key', thrown),
    );
  }

  /** Resolves once it is in force. Rejects with StoreFault. */
  sendRights(key: RemoteKey, rights: RightsChange): Promise<void> {
    return this.#send(key, { usage: [], rights });
  }

  async #send(key: RemoteKey, report: KeyReport): Promise<void> {
    this.#sent += 1;
    const id = this.#sent;
    const answered = new Promise<void>((resolve) => this.#unanswered.set(id, resolve));
    const stop = new AbortController();
    try {
      await this.#publish(id, key, report);
      await Promise.race([answered, this.#late(stop.signal)]);
    } finally {
      this.#unanswered.delete(id);
      stop.abort();
    }
  }

  async #publish(id: number, { node, digest }: RemoteKey, report: KeyReport): Promise<void> {
    const { link } = this.#deps;
    const hearing = await link.publish(channelOf(node), JSON.stringify({ from: link.node, id, digest, ...report }));
    if (hearing === 0) throw new StoreFault('the node that made the key is gone');
  }

  async #late(stop: AbortSignal): Promise<never> {
    await this.#deps.clock.sleep(answerTimeoutMs, stop);
    throw new StoreFault('the node that made the key did not answer in time');
  }

  async #hear(text: string): Promise<void> {
    const said = tryParseJson(text);
    if (!isJsonObject(said)) return;
    const { answers, from, id, digest } = said;
    if (typeof answers === 'number') this.#unanswered.get(answers)?.();
    if (typeof from !== 'string' || typeof digest !== 'string') return;
    try {
      await this.#deps.deliver(digest, toReport(said));
      // If the answer gets lost, the other node notes it.
      await this.#deps.link.publish(channelOf(from), JSON.stringify({ answers: id }));
    } catch (thrown) {
      this.#deps.noteFault('another node was not told that what happened with a key is known', thrown);
    }
  }
}

function toReport({ usage, rights }: JsonObject): KeyReport {
  const change = toRightsChange(rights);
  return { usage: toModelUsages(usage as ModelUsage[]), ...(change && { rights: change }) };
}

function channelOf(node: string): string {
  return `parley:usage:${node}`;
}
