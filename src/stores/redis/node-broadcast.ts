import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { NodeBroadcast, Notice } from '#domain/node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

const channel = 'parley:notices';
/** For what is news only at the moment. */
const passingChannel = 'parley:notices:passing';
/** Holds the last notice, for nodes that could not hear it. */
const lastKey = 'parley:notices:last';

type Hear = (notice: Notice) => void;

/**
 * Tells the nodes that share a Redis; none gets its own notices. A configuration that could not be told while Redis was away is told when
 * it is back, and a node that got nothing for a while asks for the last one. A node that starts gets only what comes later.
 */
export class RedisNodeBroadcast implements NodeBroadcast {
  readonly #link: RedisLink;
  #published = 0;
  /** The newest notice, as long as Redis does not have it. */
  #unpublished: string | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReady(() => void this.#tell().catch(() => undefined));
  }

  async publish({ topic, text }: Notice): Promise<void> {
    const { node } = this.#link;
    if (topic === 'response') {
      await this.#link.publish(passingChannel, JSON.stringify({ from: node, topic, text }));
      return;
    }
    this.#published += 1;
    this.#unpublished = JSON.stringify({ from: node, id: this.#published, topic, text });
    await this.#tell();
  }

  onNotice(hear: Hear): void {
    const hearing = new Hearing(this.#link, hear);
    this.#link.hear(channel, hearing.take);
    this.#link.hear(passingChannel, hearing.takePassing);
    // Whichever of the two connections comes back last finds both of them there.
    this.#link.onHearing(hearing.catchUp);
    this.#link.onReady(hearing.catchUp);
  }

  async #tell(): Promise<void> {
    const said = this.#unpublished;
    if (said === undefined) return;
    await this.#link.transact((step) => step.set(lastKey, said).publish(channel, said));
    if (this.#unpublished === said) this.#unpublished = undefined;
  }
}

/** What one hearer has heard. */
class Hearing {
  readonly #link: RedisLink;
  readonly #hear: Hear;
  #last: string | undefined;
  /** The last notice when this one began to hear, which is news only if it comes over the channel; undefined until it is known. */
  #atStart: string | null | undefined;

  constructor(link: RedisLink, hear: Hear) {
    this.#link = link;
    this.#hear = hear;
  }

  readonly take = (said: string): void => {
    if (said === this.#last) return;
    this.#last = said;
    this.#take(said, 'configuration');
  };

  readonly takePassing = (said: string): void => this.#take(said, 'response');

  readonly catchUp = (): void => {
    const last = this.#link.run((redis) => redis.get(lastKey));
    last.then(
      (said) => {
        if (this.#atStart === undefined) this.#atStart = said;
        else if (said !== null && said !== this.#atStart) this.#link.deliver(channel, said);
      },
      // The connection that comes back next tries again.
      () => undefined,
    );
  };

  #take(said: string, wanted: Notice['topic']): void {
    const value = tryParseJson(said);
    const { from, topic, text } = isJsonObject(value) ? value : {};
    if (from !== this.#link.node && topic === wanted && typeof text === 'string') this.#hear({ topic: wanted, text });
  }
}
