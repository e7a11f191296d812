import { toObject, tryParseJson } from '#base/json/json.ts';
import { type NodeBroadcast, type Notice, noticeTopics } from '#domain/node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

const channel = 'parley:notices:passing';

/** Sends notices to the other nodes that share a Redis. A node does not receive its own notices. */
export class RedisNodeBroadcast implements NodeBroadcast {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async publish({ topic, text }: Notice): Promise<void> {
    await this.#link.publish(channel, JSON.stringify({ from: this.#link.node, topic, text }));
  }

  onNotice(listener: (notice: Notice) => unknown): void {
    this.#link.subscribe(channel, (message) => {
      const { from, topic: sentTopic, text } = toObject(tryParseJson(message));
      const topic = noticeTopics.find((expected) => expected === sentTopic);
      if (from !== this.#link.node && topic !== undefined && typeof text === 'string') listener({ topic, text });
    });
  }
}
