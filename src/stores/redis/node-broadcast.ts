import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { NodeBroadcast, Notice } from '#domain/node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

const channel = 'parley:notices';
/** Channel for notices that are not stored. */
const transientChannel = 'parley:notices:passing';
/** Stores the last notice for nodes that missed it. */
const lastKey = 'parley:notices:last';

type NoticeListener = (notice: Notice) => void;

/**
 * Sends notices to the other nodes that share a Redis. A node does not receive its own notices. A configuration notice that fails
 * while Redis is unavailable is sent when Redis is back. A node that reconnects reads the last notice. A new node receives only
 * later notices.
 */
export class RedisNodeBroadcast implements NodeBroadcast {
  readonly #link: RedisLink;
  #published = 0;
  /** The newest notice until Redis has stored it. */
  #pending: string | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReady(() => void this.#publishPending().catch(() => undefined));
  }

  async publish({ topic, text }: Notice): Promise<void> {
    const { node } = this.#link;
    if (topic !== 'configuration') {
      await this.#link.publish(transientChannel, JSON.stringify({ from: node, topic, text }));
      return;
    }
    this.#published += 1;
    this.#pending = JSON.stringify({ from: node, id: this.#published, topic, text });
    await this.#publishPending();
  }

  onNotice(listener: NoticeListener): void {
    const subscription = new NoticeSubscription(this.#link, listener);
    this.#link.subscribe(channel, subscription.onMessage);
    this.#link.subscribe(transientChannel, subscription.onTransientMessage);
    // The connections return in any order. Only the later event finds both connected.
    this.#link.onSubscribed(subscription.catchUp);
    this.#link.onReady(subscription.catchUp);
  }

  async #publishPending(): Promise<void> {
    const pending = this.#pending;
    if (pending === undefined) return;
    await this.#link.transact((step) => step.set(lastKey, pending).publish(channel, pending));
    if (this.#pending === pending) this.#pending = undefined;
  }
}

/** State of one subscriber. */
class NoticeSubscription {
  readonly #link: RedisLink;
  readonly #listener: NoticeListener;
  #last: string | undefined;
  /** The notice stored before the subscription, which is not delivered from the store. Undefined until it is read. */
  #atStart: string | null | undefined;

  constructor(link: RedisLink, listener: NoticeListener) {
    this.#link = link;
    this.#listener = listener;
  }

  readonly onMessage = (message: string): void => {
    if (message === this.#last) return;
    this.#last = message;
    this.#receive(message, ['configuration']);
  };

  readonly onTransientMessage = (message: string): void => this.#receive(message, ['response', 'upstream']);

  readonly catchUp = (): void => {
    const last = this.#link.run((redis) => redis.get(lastKey));
    last.then(
      (message) => {
        if (this.#atStart === undefined) this.#atStart = message;
        else if (message !== null && message !== this.#atStart) this.#link.deliver(channel, message);
      },
      // If this fails, the next connection tries again.
      () => undefined,
    );
  };

  #receive(message: string, topics: readonly Notice['topic'][]): void {
    const value = tryParseJson(message);
    const { from, topic: sentTopic, text } = isJsonObject(value) ? value : {};
    const topic = topics.find((expected) => expected === sentTopic);
    if (from !== this.#link.node && topic !== undefined && typeof text === 'string') this.#listener({ topic, text });
  }
}
