import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { NodeBroadcast, Notice } from '#domain/node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

const channel = 'parley:notices';
/** For what is news only at the moment. */
const transientChannel = 'parley:notices:passing';
/** Holds the last notice, for nodes that could not hear it. */
const lastKey = 'parley:notices:last';

type NoticeListener = (notice: Notice) => void;

/**
 * Tells the nodes that share a Redis; none gets its own notices. A configuration that could not be told while Redis was away is told when
 * it is back, and a node that got nothing for a while asks for the last one. A node that starts gets only what comes later.
 */
export class RedisNodeBroadcast implements NodeBroadcast {
  readonly #link: RedisLink;
  #published = 0;
  /** The newest notice, as long as Redis does not have it. */
  #pending: string | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReady(() => void this.#publishPending().catch(() => undefined));
  }

  async publish({ topic, text }: Notice): Promise<void> {
    const { node } = this.#link;
    if (topic === 'response') {
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
    // Whichever of the two connections comes back last finds both of them there.
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

/** What one hearer has heard. */
class NoticeSubscription {
  readonly #link: RedisLink;
  readonly #listener: NoticeListener;
  #last: string | undefined;
  /** The last notice when this one began to hear, which is news only if it comes over the channel; undefined until it is known. */
  #atStart: string | null | undefined;

  constructor(link: RedisLink, listener: NoticeListener) {
    this.#link = link;
    this.#listener = listener;
  }

  readonly onMessage = (message: string): void => {
    if (message === this.#last) return;
    this.#last = message;
    this.#receive(message, 'configuration');
  };

  readonly onTransientMessage = (message: string): void => this.#receive(message, 'response');

  readonly catchUp = (): void => {
    const last = this.#link.run((redis) => redis.get(lastKey));
    last.then(
      (message) => {
        if (this.#atStart === undefined) this.#atStart = message;
        else if (message !== null && message !== this.#atStart) this.#link.deliver(channel, message);
      },
      // The connection that comes back next tries again.
      () => undefined,
    );
  };

  #receive(message: string, expectedTopic: Notice['topic']): void {
    const value = tryParseJson(message);
    const { from, topic, text } = isJsonObject(value) ? value : {};
    if (from !== this.#link.node && topic === expectedTopic && typeof text === 'string')
      this.#listener({ topic: expectedTopic, text });
  }
}
